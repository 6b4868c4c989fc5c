//! A collection on disk, with which new keys are compared without auditing the old ones again.
//!
//! The folder has a list of segments, `manifest.json`, which is replaced as a whole when keys are added. The
//! keys that were added together are a segment: `keys-*` has the keys with their names, `index-*` the digests
//! of their moduli, and `root-*` the products of their moduli without small factors. Files have checksums and
//! are never changed.

mod index;
mod segment;

use crate::audit::{Audit, Divisions};
use crate::base::value;
use crate::collection::{Collection, Key};
use crate::error::{Error, at};
use crate::files::{self, Folder};
use crate::finding::Finding;
use crate::forest::Roots;
use crate::progress::Stage;
use crate::widths::subsets;
use index::{Alias, Index, hash};
use modmill::{Batch, trees};
use modmill_container::NewFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

const MANIFEST: &str = "manifest.json";
const LOCK: &str = "lock";
const FORMAT: &str = "modmill-audit-corpus";
const VERSION: u32 = 1;

/// Limbs of old moduli that are compared with new ones together.
const CHUNK: usize = 1 << 21;

/// The list of segments.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    segments: Vec<Segment>,
}

/// The files of a segment.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Segment {
    /// The number of keys with different moduli.
    count: u64,
    keys: String,
    index: String,
    roots: Vec<String>,
}

impl Manifest {
    fn new(segments: Vec<Segment>) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, segments }
    }

    /// Replaces the list of files, which is there as a whole or as it was.
    fn write(self, list: &Path) -> Result<Self, Error> {
        let text = serde_json::to_vec_pretty(&self);
        let text = text.map_err(|error| Error::corpus(list, error.to_string()))?;
        let publish = || {
            let mut file = NewFile::create(list, false)?;
            file.write_all(&text)?;
            file.publish()
        };
        at(list, publish())?;
        Ok(self)
    }
}

impl Segment {
    /// Whether a file has the name of a segment's: `keys-TAG`, `index-TAG` or `root-TAG-NUMBER`.
    fn has_name(name: &str) -> bool {
        let is_number = |part: &str| part.parse::<usize>().is_ok_and(|number| number.to_string() == part);
        match name.split('-').collect::<Vec<_>>()[..] {
            ["keys" | "index", tag] => files::is_name(tag),
            ["root", tag, number] => files::is_name(tag) && is_number(number),
            _ => false,
        }
    }

    fn files(&self) -> impl Iterator<Item = &String> {
        [&self.keys, &self.index].into_iter().chain(&self.roots)
    }
}

/// A key of the corpus: its number, counted through all segments.
type Number = u64;

/// Keys of the corpus with their names.
type Stored = BTreeMap<Number, (Key, Vec<String>)>;

/// A collection on disk.
pub struct Corpus {
    folder: Folder,
    manifest: Manifest,
    /// Whether audits have an addition.
    adds: bool,
    /// Other programs neither add keys nor look at them while this one adds some.
    _lock: File,
}

/// New keys that a corpus does not have yet. One that is dropped adds nothing.
pub struct Addition<'a> {
    corpus: &'a mut Corpus,
    fresh: Collection,
    /// The keys of `fresh` that the corpus does not have.
    new: Vec<usize>,
    roots: Vec<Batch>,
    index: Index,
}

impl Addition<'_> {
    /// Adds the keys. The corpus stays as it was if anything fails.
    ///
    /// Later audits do not tell again what the new keys share with old ones: the caller keeps the findings of
    /// this one first.
    pub fn add(self) -> Result<(), Error> {
        self.corpus.append(&self.fresh, &self.new, &self.roots, &self.index)
    }
}

impl Roots for Corpus {
    fn len(&self) -> usize {
        self.root_names().count()
    }

    fn root(&self, index: usize) -> Result<Batch, Error> {
        match self.root_names().nth(index) {
            Some(name) => self.folder.read_numbers(name),
            None => Ok(Batch::try_zeros(1, 1)?),
        }
    }
}

impl Corpus {
    /// Opens a corpus. If keys will be added, a folder that is absent or empty becomes an empty corpus.
    pub fn open(path: &Path, adds: bool) -> Result<Self, Error> {
        let list = path.join(MANIFEST);
        if !adds && !list.is_file() {
            return Err(Error::corpus(path, "there is no corpus in this folder; --add makes one"));
        }
        let folder = Folder::create(path)?;
        let lock_path = path.join(LOCK);
        let lock = at(&lock_path, File::options().write(true).create(true).truncate(false).open(&lock_path));
        let lock = match lock {
            Err(_) if !adds => at(&list, File::open(&list))?,
            lock => lock?,
        };
        let locked = if adds { lock.try_lock() } else { lock.try_lock_shared() };
        if locked.is_err() {
            return Err(Error::InUse { path: path.to_owned() });
        }
        let manifest = match list.is_file() {
            true => Self::read(&list)?,
            false => {
                let is_other = |name: &str| name != LOCK && !NewFile::is_temporary(name);
                let others = |entry: fs::DirEntry| is_other(&entry.file_name().to_string_lossy());
                if at(path, fs::read_dir(path))?.flatten().any(others) {
                    return Err(Error::corpus(path, "the folder has other files and no corpus"));
                }
                // An audit that is killed then leaves a corpus.
                Manifest::new(Vec::new()).write(&list)?
            }
        };
        let corpus = Self { folder, manifest, adds, _lock: lock };
        if adds {
            corpus.remove_rest()?;
        }
        Ok(corpus)
    }

    /// Removes the files of audits that were killed before their keys were added.
    fn remove_rest(&self) -> Result<(), Error> {
        let segments = self.manifest.segments.iter();
        let known: BTreeSet<&String> = segments.flat_map(Segment::files).collect();
        self.folder.remove(|name| {
            Segment::has_name(name) && !known.contains(&name.to_owned()) || NewFile::is_temporary(name)
        })
    }

    fn read(list: &Path) -> Result<Manifest, Error> {
        /// The fields that say how the others are to be read.
        #[derive(Deserialize)]
        struct Version {
            format: String,
            version: u32,
        }
        let text = at(list, fs::read(list))?;
        let damaged =
            |error: serde_json::Error| Error::corpus(list, format!("the list of files is damaged: {error}"));
        let version: Version = serde_json::from_slice(&text).map_err(damaged)?;
        if version.format != FORMAT {
            return Err(Error::corpus(list, "this is not the list of a corpus"));
        }
        if version.version != VERSION {
            let reason = format!("the corpus has version {}, and only {VERSION} is known", version.version);
            return Err(Error::corpus(list, reason));
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.manifest.segments.iter().map(|segment| segment.count).sum()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn root_names(&self) -> impl Iterator<Item = &String> {
        self.manifest.segments.iter().flat_map(|segment| &segment.roots)
    }

    /// The segments, each with the number of its first key.
    fn segments(&self) -> impl Iterator<Item = (Number, &Segment)> {
        self.manifest.segments.iter().scan(0, |first, segment| {
            let this = *first;
            *first += segment.count;
            Some((this, segment))
        })
    }

    /// Audits new keys beside those of the corpus. The findings are about the new keys, and about old ones of
    /// which a new one has a factor. Returns them with the collection of all keys that they are about, and
    /// the addition of the new keys if the corpus was opened for that. The corpus keeps a key once for each
    /// name.
    pub fn audit(
        &mut self,
        audit: &Audit<'_>,
        named: Vec<(String, Key)>,
    ) -> Result<(Collection, Vec<Finding>, Option<Addition<'_>>), Error> {
        let fresh = Collection::new(named.iter().cloned());
        let index = Index::read(&self.folder, self.segments())?;
        let known = self.known(&index, &fresh)?;
        let new: Vec<usize> = (0..fresh.keys().len()).filter(|key| !known.contains_key(key)).collect();

        // The new keys among themselves and with the corpus.
        let mut divisions = Divisions::default();
        divisions.extend(audit, fresh.keys())?;
        let modulus = |item: usize| divisions.rest(fresh.keys(), new[item]);
        if let Some(scratch) = audit.scratch {
            let roots: Vec<String> = self.root_names().cloned().collect();
            scratch.begin((0..new.len()).map(modulus), &roots);
        }
        let shared = audit.forest(true).shared(modulus, new.len(), self, self.adds)?;
        let divisors = shared.divisors.iter().map(|(_, divisor)| divisor);
        let hits = self.sharing(audit, &divisors.collect::<Vec<_>>())?;

        // Old keys that the findings are about, and the weak keys that may be partners of theirs.
        let mut needed: BTreeSet<Number> = known.values().copied().chain(hits.iter().copied()).collect();
        if needed.iter().any(|number| index.weak.contains(number) || hits.contains(number)) {
            needed.extend(&index.weak);
        }
        let old = self.stored(&index, &needed)?;
        let names =
            old.values().flat_map(|(key, names)| names.iter().map(|name| (name.clone(), key.clone())));
        // The new keys come first and so keep their places.
        let all = Collection::new(named.into_iter().chain(names));
        divisions.extend(audit, all.keys())?;
        let modulus = |key: usize| divisions.rest(all.keys(), key);
        let places: BTreeMap<&[u64], usize> =
            all.keys().iter().enumerate().map(|(place, key)| (key.modulus(), place)).collect();
        let numbers: BTreeMap<usize, Number> =
            old.iter().map(|(number, (key, _))| (places[key.modulus()], *number)).collect();
        let is_weak = |number: &Number| index.weak.contains(number) || hits.contains(number);
        let candidates: BTreeSet<usize> = shared
            .divisors
            .iter()
            .map(|(item, _)| new[*item])
            .chain(numbers.iter().filter(|(_, number)| is_weak(number)).map(|(place, _)| *place))
            .collect();
        let candidates: Vec<usize> = candidates.into_iter().collect();
        let among =
            audit.forest(false).shared(|item| modulus(candidates[item]), candidates.len(), &(), false)?;
        let weak: Vec<(usize, Vec<u64>)> =
            among.divisors.into_iter().map(|(item, divisor)| (candidates[item], divisor)).collect();
        let tells = |place: usize| {
            place < fresh.keys().len() || numbers.get(&place).is_some_and(|number| hits.contains(number))
        };
        let findings = audit.findings(&all, &divisions, &weak, tells)?;
        if !self.adds {
            return Ok((all, findings, None));
        }
        let first = self.len();
        let mut number_of = numbers;
        number_of.extend(new.iter().enumerate().map(|(item, &key)| (key, first + item as u64)));
        let aliases = aliases(&fresh, &known, &old);
        let weak = weak.iter().filter_map(|(place, _)| number_of.get(place)).copied();
        let weak = weak.filter(|number| !index.weak.contains(number)).collect();
        let index = Index::new(weak, aliases);
        Ok((all, findings, Some(Addition { corpus: self, fresh, new, roots: shared.roots, index })))
    }

    /// The keys that the corpus has.
    fn known(&self, index: &Index, fresh: &Collection) -> Result<BTreeMap<usize, Number>, Error> {
        let moduli = fresh.keys().iter().enumerate();
        let found: Vec<(usize, Number)> = moduli
            .flat_map(|(key, value)| index.find(hash(value.modulus())).map(move |number| (key, number)))
            .collect();
        let numbers: BTreeSet<Number> = found.iter().map(|(_, number)| *number).collect();
        let stored = self.stored(index, &numbers)?;
        let is_same = |&(key, number): &(usize, Number)| {
            stored.get(&number).is_some_and(|(old, _)| old.modulus() == fresh.keys()[key].modulus())
        };
        Ok(found.into_iter().filter(is_same).collect())
    }

    /// Keys with all of their names.
    fn stored(&self, index: &Index, numbers: &BTreeSet<Number>) -> Result<Stored, Error> {
        let mut stored = Stored::new();
        for (first, segment) in self.segments() {
            if numbers.range(first..first + segment.count).next().is_some() {
                segment::read(&self.folder, segment, |place, key, names| {
                    if numbers.contains(&(first + place)) {
                        stored.insert(first + place, (key, names));
                    }
                })?;
            }
        }
        for alias in &index.aliases {
            if let Some((_, names)) = stored.get_mut(&alias.number) {
                names.push(alias.name.clone());
            }
        }
        Ok(stored)
    }

    /// The keys that have any of these factors.
    fn sharing(&self, audit: &Audit<'_>, factors: &[&Vec<u64>]) -> Result<BTreeSet<Number>, Error> {
        let mut found = BTreeSet::new();
        if factors.is_empty() {
            return Ok(found);
        }
        let engine = &audit.engine.watched_by(None);
        let product = trees::product(engine, &Batch::from_values(factors))?;
        let product = Batch::from_values([value(&product, 0)]);
        for (first, segment) in self.segments() {
            let mut shares = false;
            for name in &segment.roots {
                let root = engine.reduce(&self.folder.read_numbers(name)?, &product)?;
                shares |= value(&engine.gcd(&root, &product)?, 0) != [1];
            }
            if !shares {
                continue;
            }
            let mut keys = Vec::new();
            segment::read(&self.folder, segment, |_, key, _| keys.push(key))?;
            audit.progress.begin(Stage::Partners(keys.len()));
            for subset in subsets(keys.iter().map(|key| key.modulus().len()), CHUNK) {
                let moduli = subset.batch(|index| keys[index].modulus())?;
                let rests = engine.reduce(product.shared(0), &moduli)?;
                let divisors = audit.engine.gcd(&rests, &moduli)?;
                let shares = (0..moduli.len()).filter(|&item| value(&divisors, item) != [1]);
                found.extend(shares.map(|item| first + subset.indices[item] as u64));
            }
        }
        Ok(found)
    }

    /// Adds a segment of new keys.
    fn append(
        &mut self,
        fresh: &Collection,
        new: &[usize],
        roots: &[Batch],
        more: &Index,
    ) -> Result<(), Error> {
        if new.is_empty() && more.weak.is_empty() && more.aliases.is_empty() {
            return Ok(());
        }
        let tag = segment::tag(fresh, new, more, self.manifest.segments.len());
        let keys = format!("keys-{tag}");
        segment::write(&self.folder, &keys, fresh, new)?;
        let index = format!("index-{tag}");
        more.write(&self.folder, &index, new.iter().map(|&key| fresh.keys()[key].modulus()))?;
        let mut names = Vec::with_capacity(roots.len());
        for (number, root) in roots.iter().enumerate() {
            names.push(format!("root-{tag}-{number}"));
            self.folder.write_numbers(&names[number], root)?;
        }
        let segment = Segment { count: new.len() as u64, keys, index, roots: names };
        let mut segments = self.manifest.segments.clone();
        segments.push(segment);
        self.manifest = Manifest::new(segments).write(&self.folder.path().join(MANIFEST))?;
        Ok(())
    }
}

/// The names of new entries whose keys the corpus has under other names.
fn aliases(fresh: &Collection, known: &BTreeMap<usize, Number>, old: &Stored) -> Vec<Alias> {
    let mut aliases = Vec::new();
    for (&key, &number) in known {
        let names: &[String] = old.get(&number).map_or(&[], |(_, names)| names);
        let is_new = |name: &&str| names.iter().all(|known| known != name);
        aliases.extend(fresh.ids(key).filter(is_new).map(|name| Alias { number, name: name.to_owned() }));
    }
    aliases
}
