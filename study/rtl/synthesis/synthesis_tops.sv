// The units between registers, for synthesis: every path that is timed begins and ends in a flip-flop.
// `enable` is 1; a clock gate takes its place in silicon, and both ways of building the radix-16 unit are
// treated alike.
module radix16_top (
    input  logic          clk,
    input  logic [1023:0] x,
    output logic [1023:0] y
);
  logic [1023:0] x_q;
  always_ff @(posedge clk) x_q <= x;
  modmill_radix16 unit (.clk(clk), .enable(1'b1), .x(x_q), .y(y));
endmodule

// One of the 16 sums of which the thesis's radix-16 unit consists; they share nothing but the inputs.
module thesis_sum16_top #(
    parameter integer LANE = 7
) (
    input  logic          clk,
    input  logic [1023:0] x,
    output logic [  63:0] y
);
  logic [1023:0] x_q;
  always_ff @(posedge clk) x_q <= x;
  thesis_sum16 #(.LANE(LANE)) unit (.clk(clk), .enable(1'b1), .inverse(1'b0), .x(x_q), .y(y));
endmodule

module mulmod_top #(
    parameter integer EMBEDDED = 0
) (
    input  logic        clk,
    input  logic [63:0] a,
    input  logic [63:0] b,
    output logic [63:0] y
);
  logic [63:0] a_q, b_q;
  always_ff @(posedge clk) begin
    a_q <= a;
    b_q <= b;
  end
  modmill_mulmod #(.EMBEDDED(EMBEDDED)) unit (.clk(clk), .enable(1'b1), .a(a_q), .b(b_q), .y(y));
endmodule

module resolver_top (
    input  logic          clk,
    input  logic          aresetn,
    input  logic          in_valid,
    input  logic          in_first,
    input  logic          in_last,
    input  logic [1023:0] values,
    output logic          out_valid,
    output logic          out_last,
    output logic [ 383:0] digits
);
  logic [1023:0] values_q;
  logic valid_q, first_q, last_q;
  always_ff @(posedge clk) begin
    values_q <= values;
    valid_q <= in_valid;
    first_q <= in_first;
    last_q <= in_last;
  end
  modmill_resolver unit (
      .clk(clk),
      .aresetn(aresetn),
      .enable(1'b1),
      .in_valid(valid_q),
      .in_first(first_q),
      .in_last(last_q),
      .values(values_q),
      .out_valid(out_valid),
      .out_last(out_last),
      .digits(digits)
  );
endmodule

// One twiddle factor without its table.
module twiddle_top (
    input  logic        clk,
    input  logic [15:0] exponent,
    input  logic        scale,
    input  logic [ 7:0] extra,
    output logic [63:0] y
);
  logic [15:0] exponent_q;
  logic [ 7:0] extra_q;
  logic scale_q;
  always_ff @(posedge clk) begin
    exponent_q <= exponent;
    extra_q <= extra;
    scale_q <= scale;
  end
  modmill_twiddle unit (.clk(clk), .enable(1'b1), .exponent(exponent_q), .scale(scale_q), .extra(extra_q), .y(y));
endmodule

// The whole multiplier. Its reader never waits, so that `enable` is 1 here too.
module multiplier_top (
    input  logic         clk,
    input  logic         aresetn,
    input  logic         a_valid,
    output logic         a_ready,
    input  logic [383:0] a_data,
    input  logic         a_last,
    input  logic         b_valid,
    output logic         b_ready,
    input  logic [383:0] b_data,
    input  logic         b_last,
    output logic         valid,
    output logic [383:0] data,
    output logic         last,
    output logic         framing_error
);
  modmill_multiplier unit (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_a_tvalid(a_valid),
      .s_axis_a_tready(a_ready),
      .s_axis_a_tdata(a_data),
      .s_axis_a_tlast(a_last),
      .s_axis_b_tvalid(b_valid),
      .s_axis_b_tready(b_ready),
      .s_axis_b_tdata(b_data),
      .s_axis_b_tlast(b_last),
      .m_axis_tvalid(valid),
      .m_axis_tready(1'b1),
      .m_axis_tdata(data),
      .m_axis_tlast(last),
      .framing_error(framing_error)
  );
endmodule
