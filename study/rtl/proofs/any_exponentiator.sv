// Stands for modmill_exponentiator in a proof: its outputs are bits of the input stream, which the solver
// chooses in every cycle.
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
  assign busy = host_digits[32*DIGIT-1];
  assign host_result = host_digits;
endmodule
