//! Expressions against a plain evaluator of the same text's meaning, and their errors.

use super::Expression;
use crate::circuit::Reason;
use crate::circuit::blocks::tests::{compute, mask};
use modmill_testing::rng::Rng;
use std::rc::Rc;

const INPUTS: [(&str, usize); 4] = [("a", 5), ("b", 8), ("c", 1), ("wide", 12)];

/// The value of an expression for the inputs.
type Value = Rc<dyn Fn(&[u64]) -> u64>;

/// The meaning of an expression: its text, and its width and value for the inputs.
struct Meaning {
    text: String,
    width: usize,
    value: Value,
}

/// A random expression, written with all its brackets. Widths stay below 64 bits.
fn random(random_numbers: &mut Rng, levels: usize) -> Meaning {
    if levels == 0 || random_numbers.below(6) == 0 {
        let place = random_numbers.below(6);
        if let Some(&(name, width)) = INPUTS.get(place) {
            return Meaning { text: name.to_owned(), width, value: Rc::new(move |inputs| inputs[place]) };
        }
        let number = random_numbers.below(300) as u64;
        let text = match random_numbers.below(3) {
            0 => format!("{number}"),
            1 => format!("0x{number:X}"),
            _ => format!("0b{number:b}"),
        };
        let width = (64 - number.leading_zeros()).max(1) as usize;
        return Meaning { text, width, value: Rc::new(move |_| number) };
    }
    let mut operand = || random(random_numbers, levels - 1);
    let (x, y, z) = (operand(), operand(), operand());
    let wider = x.width.max(y.width);
    let binary = |operator: &str, width: usize, value: fn(u64, u64) -> u64| {
        let (x_value, y_value, limit) = (x.value.clone(), y.value.clone(), mask(width));
        let text = format!("({} {operator} {})", x.text, y.text);
        Meaning { text, width, value: Rc::new(move |inputs| value(x_value(inputs), y_value(inputs)) & limit) }
    };
    match random_numbers.below(20) {
        0 if x.width + y.width < 50 => binary("*", x.width + y.width, |x, y| x * y),
        1 | 2 if wider < 50 => binary("+", wider + 1, |x, y| x + y),
        3 => binary("-", wider, u64::wrapping_sub),
        4 => binary("<", 1, |x, y| u64::from(x < y)),
        5 => binary("<=", 1, |x, y| u64::from(x <= y)),
        6 => binary(">", 1, |x, y| u64::from(x > y)),
        7 => binary(">=", 1, |x, y| u64::from(x >= y)),
        8 => binary("==", 1, |x, y| u64::from(x == y)),
        9 => binary("!=", 1, |x, y| u64::from(x != y)),
        10 => binary("&", wider, |x, y| x & y),
        11 => binary("^", wider, |x, y| x ^ y),
        12 => binary("|", wider, |x, y| x | y),
        13 => {
            let (value, limit) = (x.value, mask(x.width));
            Meaning {
                text: format!("~{}", x.text),
                width: x.width,
                value: Rc::new(move |i| !value(i) & limit),
            }
        }
        14 => {
            let value = x.value;
            let is_zero = move |inputs: &[u64]| u64::from(value(inputs) == 0);
            Meaning { text: format!("!{}", x.text), width: 1, value: Rc::new(is_zero) }
        }
        15 if x.width < 50 => {
            let value = x.value;
            Meaning {
                text: format!("({} << 2)", x.text),
                width: x.width + 2,
                value: Rc::new(move |i| value(i) << 2),
            }
        }
        16 => {
            let (value, width) = (x.value, x.width.saturating_sub(3).max(1));
            Meaning { text: format!("({} >> 3)", x.text), width, value: Rc::new(move |i| value(i) >> 3) }
        }
        17 => {
            let (text, width) =
                (format!("count({}, {})", x.text, y.text), (x.width + y.width).ilog2() as usize + 1);
            let (x, y) = (x.value, y.value);
            Meaning { text, width, value: Rc::new(move |i| u64::from(x(i).count_ones() + y(i).count_ones())) }
        }
        18 => {
            let (text, width) = (format!("max({}, min({}, {}))", x.text, y.text, z.text), wider.max(z.width));
            let (x, y, z) = (x.value, y.value, z.value);
            Meaning { text, width, value: Rc::new(move |i| x(i).max(y(i).min(z(i)))) }
        }
        _ => {
            let (text, width) = (format!("({} ? {} : {})", z.text, x.text, y.text), wider);
            let (x, y, z) = (x.value, y.value, z.value);
            Meaning { text, width, value: Rc::new(move |i| if z(i) != 0 { x(i) } else { y(i) }) }
        }
    }
}

#[test]
fn random_expressions_mean_what_they_say() {
    let mut numbers = Rng::new(11);
    for levels in (1..=4).cycle().take(400) {
        let meaning = random(&mut numbers, levels);
        let circuit = Expression::parse(&meaning.text).unwrap().circuit(&INPUTS).unwrap();
        assert_eq!(circuit.output().width(), meaning.width, "{}", meaning.text);
        for _ in 0..10 {
            let inputs = INPUTS.map(|(_, width)| numbers.word() & mask(width));
            assert_eq!(
                compute(&circuit, &inputs),
                (meaning.value)(&inputs),
                "{} for {inputs:?}",
                meaning.text
            );
        }
    }
}

#[test]
fn operators_bind_as_in_c() {
    let inputs = [13, 200, 1, 3000];
    let [a, b, c, wide] = inputs;
    let cases = [
        ("a + b * a", a + b * a),
        ("b - a - 2", b - a - 2),
        ("a << 1 + 2", a << 3),
        ("a + 1 << 2", (a + 1) << 2),
        ("a < b == c", u64::from(u64::from(a < b) == c)),
        ("b & a == 13", b & 1),
        ("a | b ^ wide & 255", a | (b ^ (wide & 255))),
        ("a > b ? 1 : c ? 2 : 3", 2),
        ("c ? a > 5 ? 7 : 8 : 9", 7),
        ("~~a", a),
        ("!!a", 1),
        ("!a == 0", 1),
        ("table(a & 3, 10, 11, 12, 13) * 2", 22),
        (" \tmax( a,b ,wide )\n", wide),
    ];
    for (text, expected) in cases {
        let circuit = Expression::parse(text).unwrap().circuit(&INPUTS).unwrap();
        assert_eq!(compute(&circuit, &inputs), expected, "{text}");
    }
}

#[test]
fn names_are_listed_once() {
    let expression = Expression::parse("b + max(a, b, 1) * (c ? ~d : table(e, 1))").unwrap();
    assert_eq!(expression.names(), ["b", "a", "c", "d", "e"]);
}

#[test]
fn errors_name_the_place() {
    let cases = [
        ("", 0, "expected a name, a number, `~`, `!` or `(`, found the end"),
        ("a &", 3, "found the end"),
        ("a b", 2, "expected an operator or the end, found `b`"),
        ("(a", 2, "expected an operator or `)`, found the end"),
        ("a)", 1, "found `)`"),
        ("a ? b", 5, "expected `:`"),
        ("a $ b", 2, "`$` has no meaning"),
        ("a = b", 2, "`=` has no meaning"),
        ("ä", 0, "`ä` has no meaning"),
        ("a && b", 3, "found `&`"),
        ("count()", 6, "found `)`"),
        ("max(a b)", 6, "expected `,` or `)`, found `b`"),
        ("a + 0b12", 4, "`0b12` is no number"),
        ("a + 12x", 4, "`12x` is no number"),
        ("18446744073709551616", 0, "no number of at most 64 bits"),
        ("0x", 0, "`0x` is no number"),
        ("a + d", 4, "there is no input `d`; inputs: a, b, c, wide"),
        ("sum(a)", 0, "there is no function `sum`; functions: count, max, min, table"),
        ("a << b", 5, "the number of places of a shift must be a number"),
        ("table(a)", 0, "`table` takes an index and at least one number"),
        ("table(a, b)", 9, "an entry of a table must be a number"),
        ("a << 70000", 2, "wider than the limit of 65536"),
        ("(a << 4000) * (a << 4000)", 12, "takes too many gates"),
    ];
    for (text, position, reason) in cases {
        let error = Expression::parse(text).and_then(|expression| expression.circuit(&INPUTS)).unwrap_err();
        assert!(error.to_string().contains(reason), "{text}: {error}");
        assert_eq!(error.position, position, "{text}: {error}");
        let caret = error.to_string().lines().last().unwrap().chars().count();
        assert_eq!(caret, position + 3, "{text}: {error}");
    }
}

#[test]
fn hostile_expressions_are_refused() {
    let deep = [
        format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000)),
        "~".repeat(100_000) + "a",
        "a+".repeat(100_000) + "a",
        "a?".repeat(100_000),
        "max(".repeat(100_000),
        "a?a:".repeat(100_000) + "a",
    ];
    for text in deep {
        let error = Expression::parse(&text).unwrap_err();
        assert!(matches!(error.reason, Reason::Nesting(_)), "{:?}", error.reason);
    }
    let nested = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    assert!(Expression::parse(&nested).is_ok());
    let twice = Expression::parse("a").unwrap().circuit(&[("a", 1), ("a", 2)]).unwrap_err();
    assert_eq!(twice.reason, Reason::Twice("a".to_owned()));
    let wide = Expression::parse("a").unwrap().circuit(&[("a", usize::MAX)]).unwrap_err();
    assert!(matches!(wide.reason, Reason::Width { .. }));
}

/// Random texts are refused or compiled, and nothing panics.
#[test]
fn any_text_is_answered() {
    let words = [
        "a", "b", "c", "wide", "0", "7", "0x1F", "~", "!", "*", "+", "-", "<<", ">>", "<", "<=", "==", "!=",
        "&", "^", "|", "?", ":", "(", ")", ",", "count(", "max(", "table(", " ", "$", "é",
    ];
    let mut numbers = Rng::new(23);
    let mut compiled = 0;
    for _ in 0..20_000 {
        let length = 1 + numbers.below(9);
        let text: String = (0..length).map(|_| *numbers.pick(&words)).collect();
        match Expression::parse(&text).and_then(|expression| expression.circuit(&INPUTS)) {
            Ok(_) => compiled += 1,
            Err(error) => assert!(error.position <= text.chars().count(), "{error}"),
        }
    }
    assert!(compiled > 500, "{compiled}");
}
