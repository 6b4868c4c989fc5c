//! The texts of `modmill load --help`.

pub(super) const LONG_ABOUT: &str = "\
Loads a signing service and measures it.

Requests start when they are due, whatever became of the others, and latency counts from that intended \
start to the last byte of the answer. Keys are made for the run and removed after it. Signatures are \
verified with the public keys after each measurement. Any server that speaks KMS, Vault transit or the bulk \
interface of modmill serve can be measured.

Without --rate, every connection asks again after each answer. --sweep finds by that the rate at which the \
server is saturated, and then offers 10 % to 120 % of it.";

pub(super) const EXAMPLES: &str = "\
Examples:
  modmill serve credentials create --data DIR --name load --json > load.json
  modmill load --endpoint http://127.0.0.1:4599 --credentials load.json --rate 2000
  modmill load --endpoint http://127.0.0.1:4599 --credentials load.json --sweep --pid PID --svg load.svg
  modmill load --interface transit --batch 1000 --endpoint http://127.0.0.1:4599 --credentials load.json
  modmill load --idle 10000 --pid PID --endpoint http://127.0.0.1:4599
  modmill load --soak 10 --rate 2000 --pid PID --endpoint http://127.0.0.1:4599 --credentials load.json

Environment, for what the credentials' file does not have:
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY   the access key, for kms
  VAULT_TOKEN                                the token, for transit and bulk";
