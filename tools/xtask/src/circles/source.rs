//! The paths that a Rust file names, read without a compiler.

use std::collections::{BTreeMap, BTreeSet};

/// A path of a program, such as `crate`, `limbs`, `add`.
pub(super) type Path = Vec<String>;

/// The tokens of a file that matter for its paths, and what they say about modules.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Source {
    /// Paths outside of imports.
    pub(super) paths: Vec<Path>,
    /// The names that imports bring into the file, and their paths. `*` ends the path of everything in a
    /// module.
    pub(super) imports: Vec<(String, Path)>,
    /// The modules that are compiled for tests alone.
    pub(super) test_modules: BTreeSet<String>,
}

impl Source {
    /// Reads a file. Items under `#[cfg(test)]` are left out.
    pub(super) fn read(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            at = source.read_at(&tokens, at);
        }
        source
    }

    /// Reads what begins at a token, and returns the place after it.
    fn read_at(&mut self, tokens: &[&str], at: usize) -> usize {
        const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
        if tokens[at..].starts_with(&CFG_TEST) {
            return self.skip_item(tokens, at + CFG_TEST.len());
        }
        if tokens[at] == "use" {
            let mut leaves = BTreeMap::new();
            let end = tree(tokens, at + 1, &Path::new(), &mut leaves);
            self.imports.extend(leaves.into_iter().map(|(path, name)| (name, path)));
            return end;
        }
        let follows = |before: &str| at > 0 && tokens[at - 1] == before;
        // `pub(in path)` names a module that contains this one.
        if is_name(tokens[at]) && tokens.get(at + 1) == Some(&"::") && !follows("::") && !follows("in") {
            let names = tokens[at..].chunks(2).take_while(|pair| is_name(pair[0]));
            let mut path = Path::new();
            for pair in names {
                path.push(pair[0].to_owned());
                if pair.get(1) != Some(&"::") {
                    break;
                }
            }
            self.paths.push(path);
        }
        at + 1
    }

    /// The place after the item of tests that begins at a token.
    fn skip_item(&mut self, tokens: &[&str], mut at: usize) -> usize {
        let mut depth = 0;
        let start = at;
        while at < tokens.len() {
            match tokens[at] {
                "mod" if depth == 0 && tokens.get(at + 2) == Some(&";") => {
                    self.test_modules.insert(tokens[at + 1].to_owned());
                }
                "{" | "[" | "(" => depth += 1,
                "}" if depth == 1 && tokens[start] != "use" => return at + 1,
                "}" | "]" | ")" => depth -= 1,
                ";" if depth == 0 => return at + 1,
                _ => {}
            }
            at += 1;
        }
        at
    }
}

/// Reads a tree of imports below `prefix`, notes its leaves, and returns the place after it.
fn tree(tokens: &[&str], mut at: usize, prefix: &Path, leaves: &mut BTreeMap<Path, String>) -> usize {
    let mut path = prefix.clone();
    while let Some(&token) = tokens.get(at) {
        match token {
            "::" => {}
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|&token| token != "}") {
                    at = tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "as" => {
                let name = tokens.get(at + 1).copied().unwrap_or_default();
                leaves.insert(path, name.to_owned());
                return at + 2;
            }
            // `a::{self}` is `a`.
            "self" if !path.is_empty() => {}
            "*" => path.push(token.to_owned()),
            name if is_name(name) => path.push(name.to_owned()),
            _ => break,
        }
        at += 1;
    }
    if let Some(name) = path.last().cloned() {
        leaves.insert(path, name);
    }
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::` and single signs. Comments, texts and characters are left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (length, is_kept) = token(rest);
        if is_kept {
            tokens.push(&rest[..length]);
        }
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The length of the first token, and whether it is kept.
fn token(text: &str) -> (usize, bool) {
    let until =
        |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return (until("\n", 2), false);
    }
    if text.starts_with("/*") {
        return (until("*/", 2), false);
    }
    for prefix in ["r", "br", "cr"] {
        let Some(raw) = text.strip_prefix(prefix) else { continue };
        let signs = raw.len() - raw.trim_start_matches('#').len();
        if raw[signs..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(signs));
            return (until(&end, prefix.len() + signs + 1), false);
        }
    }
    if text.starts_with('"') {
        return (quoted(text, '"'), false);
    }
    // A character, and not a lifetime.
    if text.starts_with('\'') && (text[1..].starts_with('\\') || text[1..].chars().nth(1) == Some('\'')) {
        return (quoted(text, '\''), false);
    }
    if text.starts_with("::") {
        return (2, true);
    }
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let length = text.find(|sign: char| !is_part(sign)).unwrap_or(text.len());
    (length.max(text.chars().next().map_or(0, char::len_utf8)), true)
}

/// The length of a text between two quotation marks.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if sign == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn imports_are_read_as_trees() {
        let source = Source::read("pub(crate) use crate::a::{self, b::C as D, e::*};\nuse super::f;");
        let expected =
            [("a", "crate::a"), ("D", "crate::a::b::C"), ("*", "crate::a::e::*"), ("f", "super::f")];
        assert_eq!(source.imports, expected.map(|(name, text)| (name.to_owned(), path(text))));
    }

    #[test]
    fn paths_in_code_are_read_and_those_in_texts_are_not() {
        let text = r##"
            // crate::comment::x
            fn f<'a>(x: &'a crate::a::B<'a>) -> char { let _ = ("crate::text", r#"crate::"raw"#, '"', '\''); a::b() }
            pub(in crate::hidden) struct S;
        "##;
        assert_eq!(Source::read(text).paths, [path("crate::a::B"), path("a::b")]);
    }

    #[test]
    fn items_of_tests_are_left_out() {
        let text = "
            #[cfg(test)]
            use crate::a::{b, c};
            #[cfg(test)]
            mod checks;
            #[cfg(test)]
            #[allow(unused)]
            mod tests { use crate::d; fn f() { crate::e::g() } }
            use crate::h;";
        let source = Source::read(text);
        assert_eq!(source.imports, [("h".to_owned(), path("crate::h"))]);
        assert_eq!(source.paths, Vec::<Path>::new());
        assert_eq!(source.test_modules, BTreeSet::from(["checks".to_owned()]));
    }
}
