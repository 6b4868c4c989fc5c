// Rows of carry-save adders in the ring of 2^96 + 1: brings ROWS words to fewer in LEVELS steps, each of
// which turns three words into two. OUT is the number that is left. Purely combinational.
//
//   sum of the words in = sum of the words out - (ROWS - words out) mod 2^96 + 1
module modmill_ring_compress #(
    parameter integer ROWS = 3,
    parameter integer LEVELS = 1,
    parameter integer OUT = 2
) (
    input  logic [96*ROWS-1:0] rows,
    output logic [ 96*OUT-1:0] out
);
  // Words that are left after `levels` steps.
  function automatic integer left(input integer levels);
    left = ROWS;
    for (integer i = 0; i < levels; i = i + 1) left = left - left / 3;
  endfunction

  for (genvar l = 0; l <= LEVELS; l++) begin : level
    localparam integer COUNT = left(l);
    logic [96*COUNT-1:0] words;
    if (l == 0) begin : first
      assign words = rows;
    end else begin : next
      localparam integer TRIPLES = left(l - 1) / 3;
      localparam integer REST = left(l - 1) % 3;
      for (genvar i = 0; i < TRIPLES; i++) begin : triple
        logic [95:0] x, y, z;
        assign x = level[l-1].words[96*(3*i)+:96];
        assign y = level[l-1].words[96*(3*i+1)+:96];
        assign z = level[l-1].words[96*(3*i+2)+:96];
        assign words[96*(2*i)+:96] = modmill_ring::save_sum(x, y, z);
        assign words[96*(2*i+1)+:96] = modmill_ring::save_carry(x, y, z);
      end
      for (genvar i = 0; i < REST; i++) begin : pass
        assign words[96*(2*TRIPLES+i)+:96] = level[l-1].words[96*(3*TRIPLES+i)+:96];
      end
    end
  end
  assign out = level[LEVELS].words;
endmodule
