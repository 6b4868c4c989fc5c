//! The help of `modmill bench`.

pub(super) const LONG_ABOUT: &str = "\
Measures operations beside the other libraries found on this machine, and checks every answer.

All contenders get the same random inputs: odd moduli of full length, bases below them, exponents of \
full length. They take turns in short time slices, so that other load on the machine slows all of them \
alike. ops/s is the rate of the best slice, and median that of the median slice. ops per CPU s \
divides by the processor time of all threads, which other work hardly changes. Ratios compare it on one \
thread, and medians on several. Where best and median differ much, or threads waited for a processor, a \
line says that the machine was busy, and --json has the part of the time that was lost. Every answer of \
ours is compared with a peer's, or with num-bigint's where there is no peer. A wrong answer makes the \
exit status 1.

Peers are GMP, OpenSSL and FLINT. They are loaded at run time where they are found; --peers=none leaves \
them out. A peer computes one operation after the other on each of --threads threads, with its numbers \
and Montgomery constants prepared beforehand. Ours prepare the constants of each modulus within the \
measured time, unless --shared-modulus gives all items the same one. A peer that refuses numbers of some \
length is left out there, by name.

GPUs are measured with batches that fill them, from the caller's numbers to the answers, copies \
included; kernel ops/s is the rate of their kernels without the copies. Up to 256 items of a GPU's batch \
are compared with the CPU's answers: all of them, or a random sample. mul_mod_chain and square_mod_chain \
are chains of Montgomery products, as papers measure them: nothing is copied or prepared in between.

rsa_sign goes from SHA-256 digests to PKCS #1 v1.5 signatures, each checked with the public exponent. \
rsa_verify goes back, and rsa_decrypt from OAEP ciphertexts to messages. OpenSSL does the same by \
EVP_PKEY_sign, EVP_PKEY_verify and EVP_PKEY_decrypt. Keys are random, and their constants are kept from \
call to call. Batches that fill a GPU repeat about 1024 different messages; all answers are compared.

pow_fixed_base has one base and one modulus for all items, multi_pow two powers for each item, product_mod and sum_products \
one answer for all items, with --batch numbers in a column. Tables are made beforehand. Of GMP and FLINT the functions named \
in the table do the same: powers of one base are products of the entries of a table with windows of up to 10 bits. batch_gcd \
has the factors that each of --batch numbers shares with all others; GMP and FLINT find them by the method of fastgcd.

--files measures powm, mul, inv, gcd and the signing of digests (rsa_sign) from file to file: numbers are written as JSON Lines, Parquet and Arrow to a \
folder for temporary files, and read, computed and written as the commands do. library/s is the rate of the library on \
the same numbers in memory. Powers are measured with exponents of full length and of 2 bits, which cost next to \
nothing: that shows what the files allow. MB are of the input and the output together.

--callers measures threads that call one engine at the same time, each with --batch items (64), beside one caller that \
has the items of all in one batch. share is the rate of the callers together, as a part of that of the one caller. \
Callers of RSA sign or decrypt with the same key, unless --keys gives more.

--batches measures batches of 1 to 16384 items on the CPU and on GPUs, without peers, and names the batch from which on \
the GPU answers sooner. --svg draws throughput and latency.

The latency of our paths is that of a whole batch, and the latency of a peer that of one operation. A \
star marks the path that the engine chooses by itself.";

pub(super) const EXAMPLES: &str = "\
Examples:
  modmill bench                            powers at 1024, 2048 and 4096 bits, under a minute
  modmill bench --ops mul,mul_mod,square_mod,inv --bits 256,1024,4096
  modmill bench --bits 2048 --batch 1,8,64,512 --threads 1,4 --html report.html
  modmill bench --ops pow_vartime --exponent-bits 17                   public exponent 65537
  modmill bench --ops rsa_sign,rsa_verify,rsa_decrypt --bits 2048,4096 --algorithm auto
  modmill bench --ops pow_fixed_base --bits 4096 --exponent-bits 1024 --algorithm auto --peers=gmp
  modmill bench --algorithm all --peers=none --json paths.json
  modmill bench --backend cuda --ops pow,mul_mod,square_mod_chain --algorithm all
  modmill bench --peers=openssl,openssl=/opt/openssl/lib/libcrypto.so.3
  modmill bench --files --ops pow,mul,rsa_sign --bits 1024,2048 --threads 0
  modmill bench --callers 1,8,64 --ops pow,rsa_sign --bits 2048
  modmill bench --batches --ops pow,rsa_sign --bits 2048 --seconds 0.2 --svg batches.svg
  modmill bench --ops mul,gcd --bits 786432,4194304 --batch 1 --peers=gmp,flint
  modmill bench --ops batch_gcd --bits 2048 --batch 2000,8000 --threads 1 --algorithm auto --peers=gmp

Operations:
  mul, square, mul_mod, square_mod, pow, pow_vartime, inv, gcd, jacobi, div_rem, isqrt, reduce
  rsa_sign, rsa_verify, rsa_decrypt
  pow_fixed_base, pow_fixed_base_vartime, multi_pow, product_mod, sum_products,
  batch_gcd
  mul_mod_chain, square_mod_chain          on GPUs alone";
