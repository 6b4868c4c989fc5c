//! Running the steps of a call: items are grouped by the length of their moduli, and each group is computed
//! by a device as a whole, or by single operations of the engine.

use crate::groups::{Items, by_length};
use crate::keys::{Key, Keys};
use crate::rows::{Memory, Rows};
use crate::steps::Steps;
use crate::stream::Stream;
use crate::{Error, ItemError};
use modmill::Engine;

impl<K: Key> Steps<'_, K> {
    /// Answers `count` items in order. An item without an answer does not affect the others.
    pub(crate) fn run(&self, engine: &Engine, keys: Keys<'_, K>, count: usize) -> Result<Rows, Error> {
        keys.check(count)?;
        let groups = by_length(engine, keys, count);
        if let [(bits, items)] = &groups[..] {
            return self.run_group(engine, keys, *bits, items);
        }
        let longest = groups.last().map_or(0, |(bits, _)| bits.div_ceil(8));
        let mut all = Rows::new(vec![Err(ItemError::Fault); count], Memory::new(self.kind, longest, count)?);
        for (bits, items) in &groups {
            all.put(|position| items.get(position), &self.run_group(engine, keys, *bits, items)?);
        }
        Ok(all)
    }

    /// Answers items whose moduli have `bits` bits.
    fn run_group(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        bits: usize,
        items: &Items,
    ) -> Result<Rows, Error> {
        let some: Vec<&K>;
        let of_group = match items {
            Items::All(_) => keys,
            Items::Some(items) => {
                some = items.iter().map(|&item| keys.get(item)).collect();
                Keys::Each(&some)
            }
        };
        let mut stream = Stream::new(self, engine, keys, bits, items)?;
        if !self.operation.on_blocks(engine, of_group, items.len(), &mut stream)? {
            stream.by_numbers()?;
            return stream.finish();
        }
        // The positions of items whose results failed their check on the device.
        let wrong = stream.open();
        let mut rows = stream.finish()?;
        if !wrong.is_empty() {
            let again = Items::Some(wrong.iter().map(|&position| items.get(position)).collect());
            let mut stream = Stream::new(self, engine, keys, bits, &again)?;
            stream.by_numbers()?;
            rows.put(|position| wrong[position], &stream.finish()?);
        }
        Ok(rows)
    }
}
