// Rows of all banks of both memories for one step of one stage, and how far the banks are turned. Two
// registers deep.
//
// Register 1: the group's positions. Register 2: the rows.
module modmill_addresses #(
    parameter integer STAGES = 4
) (
    input  logic                        clk,
    input  logic                        enable,
    input  logic [$clog2(2*STAGES)-1:0] stage,
    input  logic [    4*(STAGES-1)-1:0] step,
    input  logic                        parity,
    output logic [                 3:0] rotation_a,  // bank of lane 0 in memory A
    output logic [                 3:0] rotation_b,
    output logic [16*4*(STAGES-1)-1:0]  rows_a,
    output logic [16*4*(STAGES-1)-1:0]  rows_b,
    output logic                        upper        // unit 0's group is in the upper half of the positions
);
  localparam integer DIGIT = $clog2(STAGES + 1);
  localparam integer ROW = 4 * (STAGES - 1);
  logic inverse, crossing, inverse_1, crossing_1, parity_1;
  logic [DIGIT-1:0] digit, digit_1;
  logic [4*STAGES-1:0] base0, base1, base0_1, base1_1;
  logic [3:0] bank0, bank1, bank0_1, bank1_1, turn_a, turn_b;
  logic [16*ROW-1:0] of_a, of_b;
  modmill_group #(
      .STAGES(STAGES)
  ) group (
      .*
  );
  modmill_rows #(
      .STAGES(STAGES),
      .MEMORY(0)
  ) rows_of_a (
      .parity(parity_1),
      .inverse(inverse_1),
      .crossing(crossing_1),
      .digit(digit_1),
      .base0(base0_1),
      .base1(base1_1),
      .bank0(bank0_1),
      .bank1(bank1_1),
      .rotation(turn_a),
      .rows(of_a)
  );
  modmill_rows #(
      .STAGES(STAGES),
      .MEMORY(1)
  ) rows_of_b (
      .parity(parity_1),
      .inverse(inverse_1),
      .crossing(crossing_1),
      .digit(digit_1),
      .base0(base0_1),
      .base1(base1_1),
      .bank0(bank0_1),
      .bank1(bank1_1),
      .rotation(turn_b),
      .rows(of_b)
  );
  always_ff @(posedge clk) begin
    if (enable) begin
      parity_1 <= parity;
      inverse_1 <= inverse;
      crossing_1 <= crossing;
      digit_1 <= digit;
      base0_1 <= base0;
      base1_1 <= base1;
      bank0_1 <= bank0;
      bank1_1 <= bank1;
      rotation_a <= turn_a;
      rotation_b <= turn_b;
      rows_a <= of_a;
      rows_b <= of_b;
      upper <= base0_1[4*STAGES-1];
    end
  end
endmodule
