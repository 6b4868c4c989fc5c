// Properties that rtl/prove proves for all inputs, not only for those of a simulation. `ok` has to be 1.

// The last step of the fold: a v of 67 bits, no more than five words of 64 bits and a carry, becomes v mod p.
module prove_fold_last (
    input  logic [66:0] v,
    output logic        ok
);
  localparam logic [66:0] P = 67'h0_FFFF_FFFF_0000_0001;
  logic [63:0] y;
  logic [66:0] quotient;
  modmill_fold_last unit (.v(v), .y(y));
  // v mod p by its definition: y < p, and v - y is one of 0, p, .., 5 p.
  assign quotient = v - {3'b0, y};
  assign ok = v > {3'd5, 64'd0} - 67'd4
      || ({3'b0, y} < P && (quotient == 67'd0 || quotient == P || quotient == 67'd2 * P || quotient == 67'd3 * P
                            || quotient == 67'd4 * P || quotient == 67'd5 * P));
endmodule

// Equation 5.7 is the rule that a digit passes on what it generates, or what it takes in if it is critical.
module prove_lookahead (
    input  logic [15:0] generates,
    input  logic [15:0] critical,
    input  logic        carry_in,
    output logic        ok
);
  logic [16:0] carries;
  modmill_lookahead unit (.generates(generates), .critical(critical), .carry_in(carry_in), .carries(carries));
  assign ok = |(generates & critical)
      || (carries[0] == carry_in && carries[16:1] == (generates | (critical & carries[15:0])));
endmodule

// Turning back undoes turning.
module prove_rotate (
    input  logic [ 3:0] amount,
    input  logic [63:0] x,
    output logic        ok
);
  logic [63:0] there, back;
  modmill_rotate #(.WIDTH(4)) turn (.amount(amount), .x(x), .y(there));
  modmill_rotate #(.WIDTH(4)) turn_back (.amount(4'd0 - amount), .x(there), .y(back));
  assign ok = back == x;
endmodule

// A beat of the result that waits for its reader stays as it is, whatever comes after it. Proved by induction over time.
module prove_output_handshake (
    input logic          clk,
    input logic          aresetn,
    input logic          ready,
    input logic          in_valid,
    input logic          in_first,
    input logic          in_last,
    input logic [1023:0] values,
    output logic         ok
);
  logic valid, last, waited, waited_last;
  logic [383:0] digits, waited_digits;
  modmill_resolver unit (
      .clk(clk),
      .aresetn(aresetn),
      .enable(!(valid && !ready)),
      .in_valid(in_valid),
      .in_first(in_first),
      .in_last(in_last),
      .values(values),
      .out_valid(valid),
      .out_last(last),
      .digits(digits)
  );
  initial waited = 1'b0;
  always_ff @(posedge clk) begin
    waited <= aresetn && valid && !ready;
    waited_last <= last;
    waited_digits <= digits;
  end
  assign ok = !waited || (valid && last == waited_last && digits == waited_digits);
endmodule

// An input port takes no beat while its buffer is full, is full exactly after its last beat, and notices a tlast in the wrong place. Small: 8 beats.
module prove_input_handshake (
    input  logic        clk,
    input  logic        aresetn,
    input  logic        valid,
    input  logic        last,
    input  logic        release_buffer,
    input  logic [63:0] data,
    output logic        ok
);
  logic ready, full, framing_error;
  logic [3:0] taken;  // beats since the buffer was empty
  logic bad;
  modmill_input #(
      .STAGES(2),
      .DIGIT (4)
  ) unit (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_tvalid(valid),
      .s_axis_tready(ready),
      .s_axis_tdata(data),
      .s_axis_tlast(last),
      .full(full),
      .framing_error(framing_error),
      .release_buffer(release_buffer && full),
      .read_enable(1'b0),
      .base(8'd0),
      .lanes()
  );
  initial begin
    taken = 4'd0;
    bad = 1'b0;
  end
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      taken <= 4'd0;
      bad <= 1'b0;
    end else begin
      if (release_buffer && full) taken <= 4'd0;
      else if (valid && ready) taken <= taken + 4'd1;
      if (valid && ready && last != (taken == 4'd7)) bad <= 1'b1;
    end
  end
  // The second line is what the induction needs to know of the unit's counter.
  assign ok = ready == (taken != 4'd8) && full == (taken == 4'd8) && framing_error == bad
      && taken <= 4'd8 && unit.beat == taken[2:0];
endmodule
