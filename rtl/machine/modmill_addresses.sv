// Rows of all banks of both memories for one step of one stage, and how far the banks are turned. Purely combinational.
module modmill_addresses #(
    parameter integer STAGES = 4
) (
    input  logic [$clog2(2*STAGES)-1:0] stage,
    input  logic [    4*(STAGES-1)-1:0] step,
    input  logic                        parity,
    output logic [                 3:0] rotation_a,  // bank of lane 0 in memory A
    output logic [                 3:0] rotation_b,
    output logic [16*4*(STAGES-1)-1:0]  rows_a,
    output logic [16*4*(STAGES-1)-1:0]  rows_b,
    output logic                        upper        // unit 0's group is in the upper half of the positions
);
  logic inverse, crossing;
  logic [$clog2(STAGES+1)-1:0] digit;
  logic [4*STAGES-1:0] base0, base1;
  logic [3:0] bank0, bank1;
  modmill_group #(
      .STAGES(STAGES)
  ) group (
      .*
  );
  assign upper = base0[4*STAGES-1];
  modmill_rows #(
      .STAGES(STAGES),
      .MEMORY(0)
  ) rows_of_a (
      .rotation(rotation_a),
      .rows(rows_a),
      .*
  );
  modmill_rows #(
      .STAGES(STAGES),
      .MEMORY(1)
  ) rows_of_b (
      .rotation(rotation_b),
      .rows(rows_b),
      .*
  );
endmodule
