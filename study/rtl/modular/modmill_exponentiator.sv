// Modular powers (algorithm 7.2 of the thesis) on the modular multiplier: a square for each bit of the
// exponent and a product for each bit that is 1, from the top. The time shows how many bits are 1, as in the
// thesis.
//
// Before `power` the host writes the constants of the modulus (see modmill_modular), the base in Montgomery's
// form to Y and R mod M to X. It writes the exponent with `exponent_write` in 16 rows of 32 DIGIT bits, the
// least significant first; the exponent's first bit is the top bit of the last row. A power takes 300 cycles
// for the base and 2030 for each square and product. Without `power` single operations go through.
module modmill_exponentiator #(
    parameter integer DIGIT = 16,
    parameter integer EMBEDDED = 0,
    parameter TABLE = "twiddles.hex"
) (
    input  logic                clk,
    input  logic                aresetn,
    input  logic                start,
    input  logic [         1:0] operation,
    input  logic [         1:0] target,
    input  logic                power,
    input  logic [        13:0] power_bits,
    input  logic                exponent_write,
    output logic                busy,
    input  logic                host_write,
    input  logic [         2:0] host_memory,
    input  logic [         3:0] host_row,
    input  logic [32*DIGIT-1:0] host_digits,
    input  logic                host_read,
    output logic [32*DIGIT-1:0] host_result
);
  localparam integer EXPONENT = 512 * DIGIT;
  logic running, squaring, ready, multiplier_busy, begins;
  logic [13:0] left;
  logic [EXPONENT-1:0] exponent;
  assign busy   = running || multiplier_busy;
  assign begins = power && !busy;

  logic next;  // the power's next operation starts
  assign next = running && ready && left != 14'd0;
  modmill_modular #(
      .DIGIT(DIGIT),
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE)
  ) multiplier (
      .clk,
      .aresetn,
      .start(begins || next || (start && !busy)),
      .operation(begins ? 2'd0 : running ? (squaring ? 2'd2 : 2'd1) : operation),
      .target(begins ? 2'd1 : target),
      .ready,
      .busy(multiplier_busy),
      .host_write(host_write && !busy),
      .host_memory,
      .host_row,
      .host_digits,
      .host_read(host_read && !busy),
      .host_result
  );

  logic bit_ends;
  assign bit_ends = next && (!squaring || !exponent[EXPONENT-1]);
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      running <= 1'b0;
    end else if (begins) begin
      running <= 1'b1;
    end else if (running && ready && left == 14'd0) begin
      running <= 1'b0;
    end
    if (begins) begin
      left <= power_bits;
      squaring <= 1'b1;
    end else if (next) begin
      squaring <= bit_ends;
      if (bit_ends) left <= left - 14'd1;
    end
    if (bit_ends) exponent <= {exponent[EXPONENT-2:0], 1'b0};
    else if (exponent_write && !busy) exponent <= {host_digits, exponent[EXPONENT-1:32*DIGIT]};
  end
endmodule
