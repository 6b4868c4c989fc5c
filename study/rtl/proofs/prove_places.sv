// Every bank holds the position whose row it is given: the digits of that position add up to the bank's
// number, for both memories, all stages and steps of a transform of 16^3 points and both parities. So the 16
// words of a group are in 16 different banks, and the two units never want the same word. Also, the row and
// the bank give back the position.
module prove_places (
    input  logic [2:0] stage,
    input  logic [7:0] step,
    input  logic       parity,
    output logic       ok
);
  logic inverse, crossing;
  logic [1:0] digit;
  logic [11:0] base0, base1;
  logic [3:0] bank0, bank1;
  modmill_group #(.STAGES(3)) group (.*);

  logic [3:0] rotation_a, rotation_b;
  logic [127:0] rows_a, rows_b;
  modmill_rows #(.STAGES(3), .MEMORY(0)) rows_of_a (.rotation(rotation_a), .rows(rows_a), .*);
  modmill_rows #(.STAGES(3), .MEMORY(1)) rows_of_b (.rotation(rotation_b), .rows(rows_b), .*);

  // The position that a bank's row stands for: the missing digit n_0 makes the sum right. It must be in the
  // group: its digits other than `digit` are those of unit 0's or unit 1's group.
  function automatic logic in_group(input [3:0] bank, input [7:0] row, input [11:0] base, input [1:0] over, input reversed);
    logic [3:0] n1, n2, n0;
    n2 = reversed ? row[3:0] : row[7:4];
    n1 = reversed ? row[7:4] : row[3:0];
    n0 = bank - n1 - n2;
    in_group = (over == 2'd0 || n0 == base[3:0]) && (over == 2'd1 || n1 == base[7:4]) && (over == 2'd2 || n2 == base[11:8]);
  endfunction

  logic [15:0] right_a, right_b;
  for (genvar b = 0; b < 16; b++) begin : banks
    logic [7:0] row_a, row_b;
    assign row_a = rows_a[8*b+:8];
    assign row_b = rows_b[8*b+:8];
    // In the crossing stage a memory serves both groups, each from its own half of the positions.
    assign right_a[b] = crossing
        ? (in_group(4'(b), row_a, base0, digit, parity) || in_group(4'(b), row_a, base1, digit, parity))
            && !(parity ? row_a[3] : row_a[7])
        : in_group(4'(b), row_a, base0, digit, parity);
    assign right_b[b] = crossing
        ? (in_group(4'(b), row_b, base0, digit, parity) || in_group(4'(b), row_b, base1, digit, parity))
            && (parity ? row_b[3] : row_b[7])
        : in_group(4'(b), row_b, inverse ? base1 : base0, digit, parity);
  end
  // Stages 6 and 7 do not exist; inverse stages have 128 steps.
  assign ok = stage > 3'd5 || (inverse && step[7]) || (&right_a && &right_b);
endmodule
