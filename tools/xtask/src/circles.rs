//! Circles of imports between the files of a crate.
//!
//! A module's file and the files below it are one thing to the rest of the crate, so that they may import one
//! another. Any other circle of files is a fault: none of them can be read without all the others.

mod source;

use source::{Path as Names, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Look for circles of imports between the files of a crate.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder whose crates are looked at.
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", arguments.root.display());
    let mut sources = Vec::new();
    find_sources(&arguments.root, &mut sources).map_err(failed)?;
    let mut found = 0;
    for source in sources {
        let mut files = BTreeMap::new();
        read_files(&source, &source, &mut files).map_err(failed)?;
        for circle in circles(&files) {
            found += 1;
            println!("A circle of {} files in {}:", circle.len(), source.display());
            circle.iter().for_each(|(file, imports)| println!("  {file} imports {}", imports.join(", ")));
        }
    }
    match found {
        0 => Ok(()),
        _ => Err(format!("{found} circles of imports")),
    }
}

/// Finds the folder `src` of every crate below a folder.
fn find_sources(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.join("Cargo.toml").exists() && folder.join("src").is_dir() {
        found.push(folder.join("src"));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = !name.as_encoded_bytes().starts_with(b".") && name != "target" && name != "src";
        if is_ours && entry.file_type()?.is_dir() {
            find_sources(&entry.path(), found)?;
        }
    }
    found.sort();
    Ok(())
}

/// Reads the Rust files of a folder, by their paths from `root`.
fn read_files(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_files(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The files of a circle, each with the files of the circle that it imports.
type Circle = BTreeMap<String, Vec<String>>;

/// The circles of a crate: groups of files that reach one another, though none of them contains the others.
fn circles(files: &BTreeMap<String, String>) -> Vec<Circle> {
    let tree = Tree::new(files);
    let edges: BTreeMap<&Names, BTreeSet<Names>> =
        tree.modules.keys().map(|module| (module, tree.imported_by(module))).collect();
    let mut found = Vec::new();
    look_for_circles(tree.modules.keys().collect(), &edges, &mut found);
    let file = |module: &Names| tree.modules[module].0.clone();
    let imports = |module: &&Names, circle: &[&Names]| {
        let inside = edges[*module].iter().filter(|import| circle.contains(import)).map(file);
        (file(module), inside.collect())
    };
    found.iter().map(|circle| circle.iter().map(|module| imports(module, circle)).collect()).collect()
}

/// Looks for circles among `modules`. A circle around a module that contains all others is looked at without
/// it.
fn look_for_circles<'a>(
    modules: BTreeSet<&'a Names>,
    edges: &BTreeMap<&'a Names, BTreeSet<Names>>,
    found: &mut Vec<Vec<&'a Names>>,
) {
    let reached: BTreeMap<&Names, BTreeSet<&Names>> =
        modules.iter().map(|&module| (module, reach(module, &modules, edges))).collect();
    let mut left = modules.clone();
    while let Some(module) = left.pop_first() {
        let is_joined = |other: &&Names| reached[module].contains(other) && reached[*other].contains(module);
        let mut circle: BTreeSet<&Names> = left.iter().copied().filter(is_joined).collect();
        left.retain(|other| !circle.contains(other));
        // A module comes before those that it contains, in the order of their names.
        if circle.iter().all(|other| other.starts_with(module)) {
            look_for_circles(circle, edges, found);
        } else {
            circle.insert(module);
            found.push(circle.into_iter().collect());
        }
    }
}

/// The modules that a module imports, by itself or through others.
fn reach<'a>(
    start: &Names,
    modules: &BTreeSet<&'a Names>,
    edges: &BTreeMap<&'a Names, BTreeSet<Names>>,
) -> BTreeSet<&'a Names> {
    let mut reached = BTreeSet::new();
    let mut next = vec![start];
    while let Some(module) = next.pop() {
        for &import in edges[module].iter().filter_map(|import| modules.get(import)) {
            if reached.insert(import) {
                next.push(import);
            }
        }
    }
    reached
}

/// The modules of a crate that have a file of their own, with the name of the file. Those of tests are left
/// out.
struct Tree {
    modules: BTreeMap<Names, (String, Source)>,
}

impl Tree {
    fn new(files: &BTreeMap<String, String>) -> Self {
        let has_library = files.contains_key("lib.rs");
        let mut modules: BTreeMap<Names, (String, Source)> = files
            .iter()
            .filter(|(file, _)| !(file.starts_with("bin/") || has_library && *file == "main.rs"))
            .map(|(file, text)| (module_of(file), (file.clone(), Source::read(text))))
            .collect();
        let of_tests: Vec<Names> = modules
            .iter()
            .flat_map(|(module, (_, source))| source.test_modules.iter().map(|name| below(module, name)))
            .collect();
        modules.retain(|module, _| !of_tests.iter().any(|test| module.starts_with(test)));
        Self { modules }
    }

    /// The modules whose items a module names.
    fn imported_by(&self, module: &Names) -> BTreeSet<Names> {
        let source = &self.modules[module].1;
        let paths = source.paths.iter().chain(source.imports.iter().map(|(_, path)| path));
        let mut imported: BTreeSet<Names> = paths.filter_map(|path| self.resolve(module, path, 0)).collect();
        imported.remove(module);
        imported
    }

    /// The module in which the item at a path is defined, as seen from a module. `None` outside of the crate.
    fn resolve(&self, module: &Names, path: &Names, depth: usize) -> Option<Names> {
        // Two modules that import one another's names have no definition to find.
        const DEEPEST: usize = 16;
        let mut at = module.clone();
        let mut names = path.iter();
        match path.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            child if self.modules.contains_key(&below(&at, child)) => at.push(child.to_owned()),
            _ => return None,
        }
        names.next();
        for name in names {
            let inner = below(&at, name);
            if name == "super" {
                at.pop();
            } else if self.modules.contains_key(&inner) {
                at = inner;
            } else {
                let import = self.modules.get(&at)?.1.imports.iter().find(|(known, _)| known == name);
                let followed = import.filter(|_| depth < DEEPEST);
                return followed.and_then(|(_, path)| self.resolve(&at, path, depth + 1)).or(Some(at));
            }
        }
        Some(at)
    }
}

fn below(module: &Names, name: &str) -> Names {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The module of a file of `src`.
fn module_of(file: &str) -> Names {
    match file.strip_suffix(".rs") {
        None | Some("lib" | "main") => Names::new(),
        Some(module) => module.split('/').map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_has_no_circles() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned();
        run(&Arguments { root }).unwrap();
    }

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
        circles(&files).into_iter().map(|circle| circle.into_keys().collect()).collect()
    }

    #[test]
    fn two_files_that_import_one_another_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "fn f() -> crate::a::A { todo!() } pub struct B;"),
            ("c.rs", "use crate::{a::A, b::B};"),
        ];
        assert_eq!(found(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_module_and_the_files_below_it_are_none() {
        let files = [
            ("lib.rs", "mod a; pub use a::A; pub const LIMIT: u32 = 1;"),
            ("a.rs", "mod b; use b::B; pub struct A;"),
            ("a/b.rs", "use super::A; use crate::LIMIT; pub struct B;"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_circle_below_a_module_is_found() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; mod c; pub use c::C; pub struct A;"),
            ("a/b.rs", "use super::{A, C}; pub struct B;"),
            ("a/c.rs", "use super::b::B; use super::A; pub struct C;"),
        ];
        assert_eq!(found(&files), [["a/b.rs", "a/c.rs"]]);
    }

    #[test]
    fn a_name_is_followed_to_the_file_that_defines_it() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ];
        assert_eq!(found(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn tests_may_import_anything() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests; #[cfg(test)] mod more { use crate::b::B; }"),
            ("a/tests.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A; pub struct B;"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }
}
