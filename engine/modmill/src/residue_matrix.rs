//! Matrices of long integers in residues, and their products with vectors.

use crate::Engine;
use crate::gpu::{Cuda, DeviceMatrix};
use modmill_core::{
    BitVectors, Error, MatrixFactors, MatrixSource, Op, Request, ResidueModuli, ResidueVectors,
};
use std::fmt;
use std::sync::Arc;

/// The place of a matrix between products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// In the memory of a GPU. Where there is none, or the matrix is too small to be worth a launch, in the
    /// memory of the host.
    Held,
    /// In pinned memory of the host, from which each product copies it to a GPU in sections; in the memory of
    /// the host where there is no GPU.
    Pinned,
    /// At its source: each product reads the matrix in sections, or expands them from the seed. The next
    /// section is on its way while one is worked with.
    Streamed,
}

/// A matrix A of integers in residues ([`ResidueMatrix::new`]), to be multiplied by vectors: `A^T r`.
#[derive(Clone)]
pub struct ResidueMatrix {
    source: Arc<dyn MatrixSource>,
    held: Option<Arc<DeviceMatrix>>,
    progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
}

impl ResidueMatrix {
    /// A matrix in residues, ready for products. A held matrix is copied to a GPU or expanded there from its
    /// seed; it is [`Error::OutOfMemory`] if it does not fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill::matrix::{BitVectors, Placement, ResidueMatrix, ResidueModuli, SeededRows};
    ///
    /// let engine = Engine::new()?;
    /// let moduli = ResidueModuli::largest(32)?; // a modulus of 1024 bits
    /// let rows = SeededRows::new(&moduli, 100, 20, [7; 32])?;
    /// let matrix = ResidueMatrix::new(&engine, rows, Placement::Held)?;
    /// let mut bits = BitVectors::zeros(1, 100)?;
    /// bits.set(0, 3);
    /// bits.set(0, 99);
    /// let sums = matrix.multiply(&engine, &bits)?; // row 3 plus row 99
    /// assert_eq!(moduli.compose(&sums)?.len(), 20);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn new(
        engine: &Engine,
        source: impl MatrixSource + 'static,
        placement: Placement,
    ) -> Result<Self, Error> {
        let (place, words) = (engine.backends(), source.rows().saturating_mul(source.row_words()));
        let cuda = place.gpus_for(&words_of(words)).map(|(cuda, _)| cuda);
        let new = |source, held| Self { source, held, progress: Arc::new(|_, _| ()) };
        let what = || "a matrix in residues".to_owned();
        match (placement, cuda) {
            (Placement::Streamed, _) => return Ok(new(Arc::new(source), None)),
            (Placement::Held, Some(cuda)) => {
                if let Some(held) = place.or_fault_but_memory(what, cuda.hold_matrix(&source))? {
                    return Ok(new(Arc::new(source), Some(Arc::new(held))));
                }
            }
            (Placement::Pinned, Some(cuda)) => {
                if let Some(pinned) = place.or_fault_but_memory(what, cuda.pin_matrix(&source))? {
                    return Ok(new(Arc::new(pinned), None));
                }
            }
            (Placement::Held | Placement::Pinned, None) => {}
        }
        match source.in_memory() {
            Some(_) => Ok(new(Arc::new(source), None)),
            None => Ok(new(Arc::new(engine.cpu().read_matrix(&source)?), None)),
        }
    }
}

impl ResidueMatrix {
    /// The moduli.
    #[must_use]
    pub fn moduli(&self) -> &ResidueModuli {
        self.source.moduli()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.source.rows()
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.source.columns()
    }

    /// Bytes of a GPU's memory that it takes.
    #[must_use]
    pub fn device_bytes(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.bytes())
    }

    /// This matrix with a function that products tell how many rows are done, and how many there are.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self { progress: Arc::new(progress), ..self }
    }

    /// `A^T r` for each vector r of bits or of residues: a vector with an element for each column. Time and
    /// addresses do not depend on the vectors. A matrix that is held on a GPU needs the engine that made it.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::matrix::{MemoryRows, Placement, ResidueMatrix, ResidueModuli};
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let moduli = ResidueModuli::new(&[5, 7])?; // integers modulo 35
    /// let rows = MemoryRows::new(&moduli, 2, 1, vec![3, 3, 4, 4])?; // 3 and 4
    /// let matrix = ResidueMatrix::new(&engine, rows, Placement::Held)?;
    /// let vector = moduli.decompose(&Batch::from_hex(["9", "2"])?)?;
    /// let product = matrix.multiply(&engine, &vector)?;
    /// assert_eq!(moduli.compose(&product)?.as_limbs(), [0]); // 3 9 + 4 2 = 35
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn multiply<'a>(
        &self,
        engine: &Engine,
        factors: impl Into<MatrixFactors<'a>>,
    ) -> Result<ResidueVectors, Error> {
        let factors = factors.into();
        match self.new_on_gpus(engine, factors)? {
            Some(products) => Ok(products),
            None => self.on_cpu(engine, factors),
        }
    }

    /// [`ResidueMatrix::multiply`] into `answers`: as many vectors as there are factors, of an element for
    /// each column, with the moduli of the matrix. After an error they hold anything. A GPU copies its
    /// answers into this memory, which costs no new pages where it is used again.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill::matrix::{BitVectors, Placement, ResidueMatrix, ResidueModuli, ResidueVectors, SeededRows};
    ///
    /// let engine = Engine::new()?;
    /// let moduli = ResidueModuli::largest(4)?;
    /// let matrix = ResidueMatrix::new(&engine, SeededRows::new(&moduli, 50, 3, [7; 32])?, Placement::Held)?;
    /// let mut sums = ResidueVectors::zeros(&moduli, 1, 3)?;
    /// for row in [4, 17] {
    ///     let mut bits = BitVectors::zeros(1, 50)?;
    ///     bits.set(0, row);
    ///     matrix.multiply_into(&engine, &bits, &mut sums)?;
    ///     assert_eq!(sums, matrix.multiply(&engine, &bits)?);
    /// }
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn multiply_into<'a>(
        &self,
        engine: &Engine,
        factors: impl Into<MatrixFactors<'a>>,
        answers: &mut ResidueVectors,
    ) -> Result<(), Error> {
        let factors = factors.into();
        answers.check_answers(self.moduli(), factors.count(), self.columns())?;
        if self.on_gpus(engine, factors, answers)?.is_none() {
            let products = self.on_cpu(engine, factors)?;
            answers.as_mut_slice().copy_from_slice(products.as_slice());
        }
        Ok(())
    }

    /// [`ResidueMatrix::multiply`] for public bits. The CPU reads only the selected rows.
    pub fn multiply_vartime(&self, engine: &Engine, bits: &BitVectors) -> Result<ResidueVectors, Error> {
        match self.new_on_gpus(engine, bits.into())? {
            Some(products) => Ok(products),
            None => engine.cpu().multiply_bits_vartime(&*self.source, bits, &*self.progress),
        }
    }

    /// `A s` for one vector s in residues: a vector with an element for each row. The CPU computes it.
    pub fn multiply_rows(&self, engine: &Engine, vector: &ResidueVectors) -> Result<ResidueVectors, Error> {
        engine.cpu().multiply_rows(&*self.source, vector, &*self.progress)
    }

    fn on_cpu(&self, engine: &Engine, factors: MatrixFactors<'_>) -> Result<ResidueVectors, Error> {
        match factors {
            MatrixFactors::Bits(bits) => engine.cpu().multiply_bits(&*self.source, bits, &*self.progress),
            MatrixFactors::Residues(residues) => {
                engine.cpu().multiply_residues(&*self.source, residues, &*self.progress)
            }
        }
    }

    /// The GPUs, if they compute products with these vectors.
    fn gpus<'e>(&self, engine: &'e Engine, factors: MatrixFactors<'_>) -> Result<Option<&'e Cuda>, Error> {
        factors.check(self.moduli(), self.rows())?;
        let words = self.rows().saturating_mul(self.source.row_words()).saturating_mul(factors.count());
        Ok(engine.backends().gpus_for(&words_of(words)).map(|(cuda, _)| cuda))
    }

    /// The products in new memory, if GPUs compute them.
    fn new_on_gpus(
        &self,
        engine: &Engine,
        factors: MatrixFactors<'_>,
    ) -> Result<Option<ResidueVectors>, Error> {
        if self.gpus(engine, factors)?.is_none() {
            return Ok(None);
        }
        let mut products = ResidueVectors::zeros(self.moduli(), factors.count(), self.columns())?;
        Ok(self.on_gpus(engine, factors, &mut products)?.map(|()| products))
    }

    /// Writes the products to `answers`, if GPUs compute them.
    fn on_gpus(
        &self,
        engine: &Engine,
        factors: MatrixFactors<'_>,
        answers: &mut ResidueVectors,
    ) -> Result<Option<()>, Error> {
        let Some(cuda) = self.gpus(engine, factors)? else { return Ok(None) };
        let run = match &self.held {
            Some(held) => cuda.multiply_held(held, factors, answers, &*self.progress),
            None => cuda.multiply_streamed(&*self.source, factors, answers, &*self.progress),
        };
        let run = run.map(|seconds| engine.backends().add_kernel_seconds(seconds));
        engine.backends().or_fault(|| "a product with a matrix in residues".to_owned(), run)
    }
}

/// The request of products with a matrix of `count` words.
fn words_of(count: usize) -> Request {
    Request::new(Op::MatrixProduct, 64, count)
}

impl fmt::Debug for ResidueMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResidueMatrix({} x {} x {} residues)", self.rows(), self.columns(), self.moduli().len())
    }
}
