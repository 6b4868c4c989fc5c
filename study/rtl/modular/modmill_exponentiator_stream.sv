// The exponentiator behind streams (AXI4-Stream handshakes): packets with numbers and commands in, results
// out.
//
// A packet begins with a header, in the lowest 22 bits of a beat:
//   bits 2 .. 0    what follows. 0 .. 4: a number for X, Y, M', M or R - M. 5: an exponent. 6: nothing, an operation. 7: nothing, a power
//   bits 4 .. 3    the operation, for 6 (see modmill_modular_control)
//   bits 6 .. 5    the target, for operation 0
//   bit  7         send the result when the operation or power has ended
//   bits 21 .. 8   how many bits of the exponent count, for 7
// A number or an exponent is 16 beats of 32 digits, the least significant first. An exponent stands at the
// top of its 512 DIGIT bits: its first bit is the most significant one. `tlast` is 1 with a packet's last
// beat. Beats are counted: a `tlast` elsewhere, or none there, sets `framing_error` until reset and changes
// nothing else.
//
// The input waits while the machine is busy or its result is sent, so packets are done in order. A result is
// 16 beats, the least significant first, one each four cycles if its reader is ready.
module modmill_exponentiator_stream #(
    parameter integer DIGIT = 16,
    // 0: Booth multipliers of logic gates. 1: multipliers of an FPGA.
    parameter integer EMBEDDED = 0,
    // The table of twiddle factors, for `$readmemh`.
    parameter TABLE = "twiddles.hex"
) (
    input  logic                clk,
    input  logic                aresetn,
    input  logic                s_axis_tvalid,
    output logic                s_axis_tready,
    input  logic [32*DIGIT-1:0] s_axis_tdata,
    input  logic                s_axis_tlast,
    output logic                m_axis_tvalid,
    input  logic                m_axis_tready,
    output logic [32*DIGIT-1:0] m_axis_tdata,
    output logic                m_axis_tlast,
    output logic                busy,           // an operation or a power is under way
    output logic                framing_error
);
  localparam logic [2:0] EXPONENT = 3'd5, OPERATION = 3'd6, POWER = 3'd7;

  logic taken, number, row_taken, start, start_power, host_read;
  logic [2:0] follows, kind;
  logic [3:0] row;
  logic [32*DIGIT-1:0] result;
  assign follows = s_axis_tdata[2:0];
  assign taken = s_axis_tvalid && s_axis_tready;
  assign row_taken = taken && number;
  assign start = taken && !number && follows == OPERATION;
  assign start_power = taken && !number && follows == POWER;

  modmill_stream_control control (
      .command(follows >= OPERATION),
      .send(s_axis_tdata[7]),
      .*
  );
  always_ff @(posedge clk) begin
    if (taken && !number) kind <= follows;
    if (host_read) m_axis_tlast <= &row;
    // Two cycles after host_read; what comes later is not the row.
    if (!m_axis_tvalid) m_axis_tdata <= result;
  end

  modmill_exponentiator #(
      .DIGIT(DIGIT),
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE)
  ) exponentiator (
      .clk,
      .aresetn,
      .start,
      .operation(s_axis_tdata[4:3]),
      .target(s_axis_tdata[6:5]),
      .power(start_power),
      .power_bits(s_axis_tdata[21:8]),
      .exponent_write(row_taken && kind == EXPONENT),
      .busy,
      .host_write(row_taken && kind < EXPONENT),
      .host_memory(kind),
      .host_row(row),
      .host_digits(s_axis_tdata),
      .host_read,
      .host_result(result)
  );
endmodule
