// The group of 16 positions that each unit handles in one step of one stage. Purely combinational.
//
// Stages 0 .. S-1 are the forward ones over digits S-1 .. 0 of the position, stages S .. 2S-1 the inverse
// ones over digits 0 .. S-1. The digits of `step`, most significant first, name the other digits of the
// position: in descending order, except that a stage over digit S-1 takes n_1, n_2, .., n_(S-2), n_0. In
// inverse stages the two units have different groups; the bit in which they differ is left out of `step`.
module modmill_group #(
    parameter integer STAGES = 4
) (
    input  logic [         $clog2(2*STAGES)-1:0] stage,
    input  logic [             4*(STAGES-1)-1:0] step,
    output logic                                 inverse,
    output logic                                 crossing,  // inverse stage over digit S-1: its groups reach over both memories
    output logic [         $clog2(STAGES+1)-1:0] digit,     // the digit that differs within a group
    output logic [                 4*STAGES-1:0] base0,     // unit 0's group: position with a 0 in that digit
    output logic [                 4*STAGES-1:0] base1,     // unit 1's
    output logic [                          3:0] bank0,     // bank of base0
    output logic [                          3:0] bank1      // bank of base1
);
  localparam integer STEP = 4 * (STAGES - 1);
  localparam integer DIGIT = $clog2(STAGES + 1);
  // Place of the left-out bit: the top bit of n_(S-1), or of n_(S-2) in the crossing stage.
  localparam integer CROSSING_PLACE = (STAGES >= 3) ? 7 : 3;

  function automatic [4*STAGES-1:0] position(input [STEP-1:0] others, input integer over);
    for (integer i = 0; i < STAGES; i = i + 1) begin
      if (i == over) position[4*i+:4] = 4'd0;
      else if (over == STAGES - 1 && i > 0) position[4*i+:4] = others[4*(STAGES-1-i)+:4];
      else if (i < over) position[4*i+:4] = others[4*i+:4];
      else position[4*i+:4] = others[4*((i==0)?0 : i-1)+:4];
    end
  endfunction

  function automatic [3:0] sum_of_digits(input [STEP-1:0] n);
    sum_of_digits = 4'd0;
    for (integer i = 0; i < STAGES - 1; i = i + 1) sum_of_digits = sum_of_digits + n[4*i+:4];
  endfunction

  logic [STEP-1:0] others0, others1;
  always_comb begin
    inverse = 32'(stage) >= STAGES;
    crossing = 32'(stage) == 2 * STAGES - 1;
    digit = DIGIT'(inverse ? 32'(stage) - STAGES : STAGES - 1 - 32'(stage));
    others0 = step;
    others1 = step;
    if (crossing) begin
      others0 = step & STEP'((1 << CROSSING_PLACE) - 1);
      others0 = others0 | STEP'((step >> CROSSING_PLACE) << (CROSSING_PLACE + 1));
      others1 = others0 | STEP'(1 << CROSSING_PLACE);
    end else if (inverse) begin
      others1[STEP-1] = 1'b1;
    end
    base0 = position(others0, 32'(digit));
    base1 = position(others1, 32'(digit));
    // The missing digit is 0, so that the sum does not depend on its place. Where the groups differ, it is by
    // the top bit of a digit.
    bank0 = sum_of_digits(others0);
    bank1 = bank0 ^ {inverse, 3'b0};
  end
endmodule
