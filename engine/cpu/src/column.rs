//! Products of the numbers of a column modulo one odd number.

use crate::backend::Cpu;
use crate::domain::{Domain, Workspace};
use crate::kernel::Kernel;
use crate::method::Method;
use crate::path::{CpuPath, with_kernel};
use crate::planning::Recipe;
use crate::pow::pow_shared_vartime;
use crate::run::wrong;
use crate::working_memory::Rows;
use modmill_core::{Batch, BatchView, ColumnProducts, Error, Modulus, Op, Operand, Plan, Request};

/// The least number of factors that a lane multiplies.
pub(crate) const LEAST_FACTORS: usize = 8;

impl Cpu {
    /// The products of a column's groups by a plan of this backend.
    pub(crate) fn multiply_groups(
        &self,
        plan: &Plan,
        recipe: Recipe,
        products: &ColumnProducts<'_>,
    ) -> Result<Batch, Error> {
        let (Recipe { method: Method::Lanes(path), .. }, Operand::Each(column)) = (recipe, products.column)
        else {
            return Err(wrong(plan));
        };
        self.record(plan.path, plan.variant.clone(), None);
        let &ColumnProducts { group, modulus, .. } = products;
        let groups = products.count();
        // A few long groups would leave lanes and threads without work.
        let fills_lanes = groups >= path.lanes() * self.threads() || group <= LEAST_FACTORS;
        if fills_lanes {
            return self.products_of_groups(path, column, group, modulus);
        }
        let mut found = Batch::try_zeros(modulus.bits(), groups)?;
        for place in 0..groups {
            let part = column.slice(place * group..column.len().min((place + 1) * group));
            found.get_mut(place).copy_from_slice(self.product(path, part, modulus)?.get(0));
        }
        Ok(found)
    }

    /// The product of a column by lanes that each multiply a part of it.
    fn product(&self, path: CpuPath, column: BatchView<'_>, modulus: &Modulus) -> Result<Batch, Error> {
        // Some parts for each lane of each thread, so that threads that are late leave parts to others.
        let parts = 4 * path.lanes() * self.threads();
        let part = |factors: usize| factors.div_ceil(parts).max(LEAST_FACTORS);
        let mut products = self.products_of_groups(path, column, part(column.len()), modulus)?;
        while products.len() > 1 {
            let part = part(products.len());
            // The factors that are left may be too few for the lanes of the path.
            let count = products.len().div_ceil(part);
            let request = Request::new(Op::MulMod, modulus.bits(), count).one_modulus();
            let path = self.lanes_for(&request).unwrap_or(path);
            products = self.products_of_groups(path, products.view(), part, modulus)?;
        }
        Ok(products)
    }

    /// The products of consecutive groups of `group` numbers.
    ///
    /// A group is one lane: a product of plain numbers `x y / R` loses a factor R each time, and one product
    /// with a power of R at the end gives all of them back. So a number costs one product. Smaller groups are
    /// filled up with ones.
    fn products_of_groups(
        &self,
        path: CpuPath,
        column: BatchView<'_>,
        group: usize,
        modulus: &Modulus,
    ) -> Result<Batch, Error> {
        if column.bits() == 0 {
            return Batch::try_zeros(modulus.bits(), column.len().div_ceil(group));
        }
        with_kernel!(path, K, token => {
            let domain = modulus.constants(|modulus| {
                Domain::<K>::new(token, modulus.bits(), &[modulus.value()])
            });
            self.multiply_in_groups(&domain, column, group, modulus)
        })
    }

    fn multiply_in_groups<K: Kernel>(
        &self,
        domain: &Domain<K>,
        column: BatchView<'_>,
        group: usize,
        modulus: &Modulus,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(modulus.bits(), column.len().div_ceil(group))?;
        let stride = answers.stride();
        let mut one = vec![0; column.bits().div_ceil(64)];
        one[0] = 1;
        // The product of `group` numbers lost `group - 1` factors R. In Montgomery form it has one more.
        let mut factors = Rows::zeros(domain.one().len());
        factors.copy_from_slice(domain.entry());
        let mut work = Workspace::new::<K>(modulus.bits());
        pow_shared_vartime(domain, &mut factors, &[group as u64], 4, &mut work);
        let compute = |work: &mut Workspace, index: usize, out: &mut [u64]| {
            let (mut x, mut y) = (std::mem::take(&mut work.x), std::mem::take(&mut work.y));
            let mut numbers: Vec<&[u64]> = Vec::with_capacity(K::LANES);
            for step in 0..group {
                numbers.clear();
                numbers.extend((0..K::LANES).map(|lane| {
                    let item = (index * K::LANES + lane) * group + step;
                    if item < column.len() { column.get(item) } else { &one }
                }));
                if step == 0 {
                    domain.load(&numbers, column.bits(), &mut x, work);
                } else {
                    domain.load(&numbers, column.bits(), &mut y, work);
                    domain.multiply(&mut x, &y, work);
                }
            }
            domain.multiply(&mut x, &factors, work);
            domain.leave(&mut x, work);
            domain.store(&mut x, out, stride, work);
            (work.x, work.y) = (x, y);
        };
        let workspace = || Workspace::new::<K>(modulus.bits());
        self.each_chunk(answers.as_limbs_mut(), (K::LANES * stride, 1), &workspace, &compute);
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use crate::test_support::{Random, big};
    use crate::{Cpu, CpuPath, Settings};
    use modmill_core::{Batch, Call, ColumnProducts, Modulus, Operand, Request};
    use num_bigint::BigUint;

    #[test]
    fn groups_are_multiplied_on_every_path() {
        let mut random = Random::new(8);
        for path in CpuPath::detect() {
            let settings = Settings {
                isa: Some(path.isa()),
                family: Some(path.family()),
                threads: Some(2),
                ..Settings::default()
            };
            let cpu = Cpu::new(settings).unwrap();
            for bits in [2, 63, 64, 65, 521] {
                let mut modulus = random.bits(bits);
                modulus[0] |= 1;
                let shared = Modulus::new(&modulus).unwrap();
                // Numbers that are shorter, and longer than a product takes.
                for width in [1, bits, 3 * bits + 7] {
                    let mut column = Batch::zeros(width, 37);
                    (0..37).for_each(|item| column.get_mut(item).copy_from_slice(&random.bits(width)));
                    for group in [1, 2, 5, 36, 37, 100] {
                        let column = Operand::from(&column);
                        let products = ColumnProducts { column, group, modulus: &shared };
                        let Some(plan) = cpu.plan(&Request::of_column(&products)) else {
                            assert!(matches!(path, CpuPath::Rns | CpuPath::Fft(_)));
                            continue;
                        };
                        let found = cpu.run(&plan, Call::Products(&products)).unwrap();
                        assert_eq!(found.len(), 37usize.div_ceil(group));
                        for (place, found) in found.iter().enumerate() {
                            let items = place * group..(place * group + group).min(37);
                            let product = items.fold(BigUint::from(1u8), |product, item| {
                                product * big(column.limbs(item)) % big(&modulus)
                            });
                            assert_eq!(big(found), product, "{path:?}, {bits} bits, groups of {group}");
                        }
                    }
                }
            }
        }
    }
}
