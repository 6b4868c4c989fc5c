// Rows that the 16 banks of one memory read or write for one step. Purely combinational.
//
// Position n lies in bank (n_0 + .. + n_(S-1)) mod 16, in row { n_(S-1), .., n_1 }, or { n_1, .., n_(S-1) }
// for products of odd parity. Bank b holds the lane i = b - rotation mod 16 of the group. In the crossing
// stage memory 0 holds lanes 0 .. 7 of unit 0's group where i < 8 and of unit 1's where i >= 8; memory 1
// holds lanes 8 .. 15 of unit 1's group where i < 8 and of unit 0's where i >= 8.
module modmill_rows #(
    parameter integer STAGES = 4,
    parameter integer MEMORY = 0
) (
    input  logic                         parity,
    input  logic                         inverse,
    input  logic                         crossing,
    input  logic [$clog2(STAGES+1)-1:0]  digit,
    input  logic [4*STAGES-1:0]          base0,
    input  logic [4*STAGES-1:0]          base1,
    input  logic [3:0]                   bank0,
    input  logic [3:0]                   bank1,
    output logic [3:0]                   rotation,  // bank of lane 0
    output logic [16*4*(STAGES-1)-1:0]   rows
);
  localparam integer ROW = 4 * (STAGES - 1);

  // The row of `lane` in the group at `base`.
  function automatic [ROW-1:0] row(input [4*STAGES-1:0] base, input [3:0] lane, input integer over, input reversed);
    logic [4*STAGES-1:0] position;
    for (integer d = 0; d < STAGES; d = d + 1) position[4*d+:4] = (d == over) ? lane : base[4*d+:4];
    for (integer d = 1; d < STAGES; d = d + 1) begin
      if (reversed) row[4*(STAGES-1-d)+:4] = position[4*d+:4];
      else row[4*(d-1)+:4] = position[4*d+:4];
    end
  endfunction

  assign rotation = (MEMORY == 1 && inverse && !crossing) ? bank1 : bank0;
  for (genvar bank = 0; bank < 16; bank++) begin : banks
    logic [3:0] i, lane;
    logic second;  // unit 1's group
    assign i = 4'(bank) - rotation;
    assign lane = crossing ? {1'(MEMORY), i[2:0]} : i;
    assign second = crossing ? i[3] != 1'(MEMORY) : (MEMORY == 1 && inverse);
    assign rows[ROW*bank+:ROW] = row(second ? base1 : base0, lane, 32'(digit), parity);
  end
endmodule
