//! Plans against a scheme with noise that never lets an unsafe bit be used.

use super::blocks::tests::mask;
use super::*;
use modmill_testing::rng::Rng;
use std::cell::{Cell, RefCell};

/// A bit in the clear with the noise that it would have.
type Noisy = Vec<(bool, f64)>;

/// A scheme whose noise is a number of bits. It checks that every bit that it is given is safe, that its
/// answers are as safe as they were planned to be, and that nothing is recrypted in vain.
struct Mock {
    capacity: f64,
    /// The noise of a recrypted bit; `None` if the scheme cannot recrypt.
    recrypted: Option<f64>,
    calls: RefCell<Vec<(Operation, usize)>>,
    selected: Cell<usize>,
}

#[derive(Debug, thiserror::Error)]
#[error("an unsafe bit")]
struct Unsafe;

const FRESH: f64 = 4.0;

impl Mock {
    fn new(capacity: f64, recrypted: Option<f64>) -> Self {
        Self { capacity, recrypted, calls: RefCell::default(), selected: Cell::default() }
    }

    /// The budgets that were seen of the scheme of Gentry and Halevi at n = 2048.
    fn gentry_halevi() -> Self {
        Self::new(389.0, Some(172.0))
    }

    fn encrypt(&self, bits: &[bool]) -> Noisy {
        bits.iter().map(|&bit| (bit, FRESH)).collect()
    }

    fn called(&self, operation: Operation) -> Vec<usize> {
        let calls = self.calls.borrow();
        calls.iter().filter(|call| call.0 == operation).map(|call| call.1).collect()
    }

    fn answer(&self, operation: Operation, bits: Noisy) -> Result<Noisy, Unsafe> {
        self.calls.borrow_mut().push((operation, bits.len()));
        if bits.iter().all(|bit| self.is_safe(bit.1)) { Ok(bits) } else { Err(Unsafe) }
    }
}

impl Scheme for Mock {
    type Bits = Noisy;
    type Noise = f64;
    type Error = Unsafe;

    fn len(&self, bits: &Noisy) -> usize {
        bits.len()
    }

    fn select(&self, bits: &Noisy, places: &[usize]) -> Result<Noisy, Unsafe> {
        self.selected.set(self.selected.get() + places.len());
        Ok(places.iter().map(|&place| bits[place]).collect())
    }

    fn join(&self, batches: &[&Noisy]) -> Result<Noisy, Unsafe> {
        Ok(batches.iter().flat_map(|bits| bits.iter().copied()).collect())
    }

    fn constant(&self, bit: bool, count: usize) -> Result<Noisy, Unsafe> {
        self.answer(Operation::Constant(bit), vec![(bit, 0.0); count])
    }

    fn not(&self, bits: &Noisy) -> Result<Noisy, Unsafe> {
        self.answer(Operation::Not, bits.iter().map(|&(bit, noise)| (!bit, self.after_not(noise))).collect())
    }

    fn xor(&self, left: &Noisy, right: &Noisy) -> Result<Noisy, Unsafe> {
        assert_eq!(left.len(), right.len());
        let pairs = left.iter().zip(right);
        self.answer(Operation::Xor, pairs.map(|(a, b)| (a.0 ^ b.0, self.after_xor(a.1, b.1))).collect())
    }

    fn and(&self, left: &Noisy, right: &Noisy) -> Result<Noisy, Unsafe> {
        assert_eq!(left.len(), right.len());
        let pairs = left.iter().zip(right);
        self.answer(Operation::And, pairs.map(|(a, b)| (a.0 & b.0, self.after_and(a.1, b.1))).collect())
    }

    fn recrypt(&self, bits: &Noisy) -> Result<Noisy, Unsafe> {
        let noise = self.recrypted.ok_or(Unsafe)?;
        assert!(bits.iter().any(|bit| bit.1 > noise), "recrypted in vain");
        self.answer(Operation::Recrypt, bits.iter().map(|bit| (bit.0, noise)).collect())
    }

    fn noise(&self, bits: &Noisy) -> Vec<f64> {
        bits.iter().map(|bit| bit.1).collect()
    }

    fn noise_of_constant(&self) -> f64 {
        0.0
    }

    fn after_xor(&self, left: f64, right: f64) -> f64 {
        left.max(right) + (1.0 + (-(left - right).abs()).exp2()).log2()
    }

    fn after_and(&self, left: f64, right: f64) -> f64 {
        left + right
    }

    fn after_recrypt(&self, _: f64) -> Option<f64> {
        self.recrypted
    }

    fn is_safe(&self, noise: f64) -> bool {
        self.budget(noise) >= 5.0
    }

    fn budget(&self, noise: f64) -> f64 {
        self.capacity - noise
    }
}

fn bits(number: u64, width: usize) -> Vec<bool> {
    (0..width).map(|bit| number >> bit & 1 == 1).collect()
}

/// Runs an expression on random words under a scheme, several instances together, and compares with the bits
/// in the clear.
fn check(text: &str, widths: &[(&str, usize)], scheme: &Mock, instances: usize) -> Plan {
    let circuit = Expression::parse(text).unwrap().circuit(widths).unwrap();
    let mut random = Rng::new(3);
    let clear: Vec<Vec<bool>> = (widths.iter())
        .map(|&(_, width)| (0..instances).flat_map(|_| bits(random.word() & mask(width), width)).collect())
        .collect();
    let encrypted: Vec<Noisy> = clear.iter().map(|bits| scheme.encrypt(bits)).collect();
    let inputs: Vec<&Noisy> = encrypted.iter().collect();
    let plan = Plan::new(&circuit, scheme, &inputs, instances).unwrap();
    let mut seen = Vec::new();
    let answer = evaluate(&plan, scheme, &inputs, &mut |progress| seen.push(progress)).unwrap();
    let width = circuit.output().width();
    for instance in 0..instances {
        let word =
            |(bits, &(_, width)): (&Vec<bool>, &(&str, usize))| bits[instance * width..][..width].to_vec();
        let input: Vec<bool> = clear.iter().zip(widths).flat_map(word).collect();
        let output: Vec<bool> = answer[instance * width..][..width].iter().map(|bit| bit.0).collect();
        assert_eq!(Some(output), circuit.compute(&input), "{text}, instance {instance}");
    }
    // The scheme was called as often as planned.
    for operation in [Operation::Not, Operation::Xor, Operation::And, Operation::Recrypt] {
        assert_eq!(
            scheme.called(operation).iter().sum::<usize>(),
            plan.count(operation),
            "{text}: {operation:?}"
        );
    }
    let cost = circuit.cost();
    let planned = [Operation::And, Operation::Xor, Operation::Not].map(|operation| plan.count(operation));
    assert_eq!(planned, [cost.and, cost.xor, cost.not].map(|gates| gates * instances));
    for (bit, &planned) in plan.output_budgets().iter().enumerate() {
        assert!((0..instances).all(|i| scheme.budget(answer[i * width + bit].1) >= planned));
    }
    assert_eq!((seen.len(), plan.batches()), (plan.batches(), scheme.calls.borrow().len()));
    assert!(seen.windows(2).all(|pair| pair[0].level <= pair[1].level && pair[0].done < pair[1].done));
    assert_eq!(seen.iter().map(|step| step.least_budget).fold(f64::INFINITY, f64::min), plan.least_budget());
    scheme.calls.borrow_mut().clear();
    plan
}

#[test]
fn noise_is_kept_in_bounds() {
    let words = [("a", 8), ("b", 8)];
    for text in
        ["a + b", "a * b", "max(a, b)", "count(a, b)", "a * b * a > 99 ? a : b - 1", "a ^ b", "~a", "5", "a"]
    {
        for scheme in [
            Mock::gentry_halevi(),
            Mock::new(389.0, Some(190.0)),
            Mock::new(40.0, Some(17.0)),
            Mock::new(1e9, None),
        ] {
            for instances in [1, 3] {
                check(text, &words, &scheme, instances);
            }
        }
    }
}

#[test]
fn shallow_circuits_need_no_recryption() {
    let scheme = Mock::gentry_halevi();
    // Depth 4: noise of at most 2^4 fresh ones.
    let plan = check("a < b", &[("a", 8), ("b", 8)], &scheme, 1);
    assert_eq!((plan.levels(), plan.count(Operation::Recrypt)), (4, 0));
    // Depth 7 with 16 products at each: 128 fresh ones are too many.
    let deep = "a * b * c * d";
    let plan = check(deep, &[("a", 1), ("b", 1), ("c", 1), ("d", 1)], &Mock::new(15.0, Some(4.5)), 1);
    assert!(plan.count(Operation::Recrypt) > 0);
}

#[test]
fn all_products_of_a_level_are_one_batch() {
    let scheme = Mock::new(1e9, None);
    let circuit = Expression::parse("a * b").unwrap().circuit(&[("a", 8), ("b", 8)]).unwrap();
    let inputs = [scheme.encrypt(&[true; 40]), scheme.encrypt(&[true; 40])];
    let plan = Plan::new(&circuit, &scheme, &inputs.each_ref(), 5).unwrap();
    evaluate(&plan, &scheme, &inputs.each_ref(), &mut |_| {}).unwrap();
    let products = scheme.called(Operation::And);
    assert_eq!((products.len(), products[0]), (circuit.cost().depth, 5 * 64));
}

/// A wire that many gates read is recrypted instead of their other operands, and once.
#[test]
fn the_wire_that_serves_most_gates_is_recrypted() {
    let mut builder = Builder::new();
    let (a, b) = (builder.input("a", 2), builder.input("b", 6));
    let shared = builder.and(a[0], a[1]);
    let output: Word = b.iter().map(|&bit| builder.and(shared, bit)).collect();
    let circuit = builder.finish(output);
    // Safe up to 11 bits of noise: 8 + 4 are too many, and either operand's recryption helps.
    let scheme = Mock::new(16.0, Some(3.0));
    let inputs = [scheme.encrypt(&[true; 2]), scheme.encrypt(&[true; 6])];
    let plan = Plan::new(&circuit, &scheme, &inputs.each_ref(), 1).unwrap();
    assert_eq!(plan.count(Operation::Recrypt), 1);
    let answer = evaluate(&plan, &scheme, &inputs.each_ref(), &mut |_| {}).unwrap();
    assert!(answer.iter().all(|bit| bit.0));
    assert_eq!(scheme.called(Operation::Recrypt), [1]);
}

#[test]
fn what_cannot_be_computed_is_refused_before() {
    let circuit = Expression::parse("a * b").unwrap().circuit(&[("a", 4), ("b", 4)]).unwrap();
    let fresh = vec![vec![FRESH; 4]; 2];
    let without = Mock::new(15.0, None);
    let error = Plan::with_noise(&circuit, &without, &fresh, 1).unwrap_err();
    assert!(matches!(error, PlanError::TooDeep { level: 2, can_recrypt: false, .. }), "{error}");
    assert!(error.to_string().contains("the scheme cannot recrypt"), "{error}");
    let weak = Mock::new(15.0, Some(7.0));
    let error = Plan::with_noise(&circuit, &weak, &fresh, 1).unwrap_err();
    assert!(error.to_string().contains("recryption does not help"), "{error}");
    let scheme = Mock::gentry_halevi();
    let plan =
        |noise: &[Vec<f64>], instances| Plan::with_noise(&circuit, &scheme, noise, instances).unwrap_err();
    assert_eq!(plan(&fresh[1..], 1), PlanError::Words { expected: 2, found: 1 });
    assert_eq!(plan(&fresh, 2), PlanError::Width { name: "a".to_owned(), expected: 8, found: 4 });
    let tired = vec![vec![FRESH; 4], vec![FRESH, FRESH, 386.0, FRESH]];
    let expected = PlanError::Input { name: "b".to_owned(), bit: 2, budget: 3.0 };
    assert_eq!(plan(&tired, 1), expected);
    assert!(without.calls.borrow().is_empty() && weak.calls.borrow().is_empty());
}

#[test]
fn a_plan_serves_only_its_inputs() {
    let scheme = Mock::gentry_halevi();
    let circuit = Expression::parse("a & b").unwrap().circuit(&[("a", 2), ("b", 2)]).unwrap();
    let fresh = scheme.encrypt(&[true, false]);
    let tired = vec![(true, 200.0); 2];
    let plan = Plan::new(&circuit, &scheme, &[&fresh, &tired], 1).unwrap();
    let run = |inputs: &[&Noisy]| evaluate(&plan, &scheme, inputs, &mut |_| {});
    assert!(run(&[&fresh, &fresh]).is_ok());
    let reason = |inputs: &[&Noisy]| run(inputs).unwrap_err().to_string();
    assert!(
        reason(&[&tired, &tired])
            .contains("input word 0 is not the one that the plan was made for: it has more")
    );
    assert!(reason(&[&fresh]).contains("number of words"));
    assert!(reason(&[&fresh, &scheme.encrypt(&[true])]).contains("number of bits"));
}

/// The number of recryptions that the search finds with the noise of the toy setting. The greedy choice alone
/// takes 61 and 32.
#[test]
fn fewer_recryptions_are_found() {
    for (text, width, most) in [("a * b * a", 5, 49), ("a * b > 5000", 8, 28)] {
        let scheme = Mock::new(380.6, Some(185.5));
        let circuit = Expression::parse(text).unwrap().circuit(&[("a", width), ("b", width)]).unwrap();
        let plan = Plan::with_noise(&circuit, &scheme, &[vec![5.43; width], vec![5.43; width]], 1).unwrap();
        assert!(plan.count(Operation::Recrypt) <= most, "{text}: {}", plan.count(Operation::Recrypt));
    }
}

/// Instances whose inputs have different noise are planned for the worst, and each is right.
#[test]
fn instances_may_have_different_noise() {
    let scheme = Mock::gentry_halevi();
    let circuit = Expression::parse("a & b").unwrap().circuit(&[("a", 1), ("b", 1)]).unwrap();
    // Only the second instance needs a recryption.
    let inputs =
        [vec![(true, 4.0), (true, 200.0), (false, 4.0)], vec![(true, 4.0), (true, 200.0), (true, 300.0)]];
    let plan = Plan::new(&circuit, &scheme, &inputs.each_ref(), 3);
    // The wire of the other instances would have more noise by it, but stays safe.
    let plan = plan.unwrap();
    assert_eq!(plan.count(Operation::Recrypt), 3);
    assert!(plan.least_budget() >= 5.0);
}

/// A recryption that one instance needs makes noise in another, where a gate then needs one more.
#[test]
fn recryptions_for_one_instance_do_not_harm_another() {
    let scheme = Mock::gentry_halevi();
    let mut builder = Builder::new();
    let (a, b, c) = (builder.input("a", 1)[0], builder.input("b", 1)[0], builder.input("c", 1)[0]);
    let (first, second) = (builder.and(a, b), builder.and(a, c));
    let circuit = builder.finish(vec![first, second].into());
    // a and c in the second instance make more than 384 bits; a recrypted and b in the first do so, too.
    let noise = [vec![4.0, 210.0], vec![300.0, 4.0], vec![4.0, 211.0]];
    let plan = Plan::with_noise(&circuit, &scheme, &noise, 2).unwrap();
    assert!(plan.least_budget() >= 5.0, "{plan:?}");
    let inputs = noise.map(|noise| noise.into_iter().map(|noise| (true, noise)).collect::<Noisy>());
    assert!(evaluate(&plan, &scheme, &inputs.each_ref(), &mut |_| {}).is_ok());
}
