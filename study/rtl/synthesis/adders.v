// Carries of an adder for Yosys's `techmap`, in the place of Yosys's own tree (Brent and Kung's), whose 2 log2 WIDTH levels limit the period.
//
// Adders of 41 to 72 bits, of which the units have most, get Kogge and Stone's tree: every level doubles the distance, log2 WIDTH levels.
// The others get Han and Carlson's, of half the cells: only the odd places have the tree, and an even place takes the carry of the odd one below it
// in one more level.
(* techmap_celltype = "$lcu" *)
module modmill_carries (P, G, CI, CO);
  parameter WIDTH = 2;
  localparam DENSE = WIDTH > 40 && WIDTH <= 72;
  (* force_downto *) input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *) output [WIDTH-1:0] CO;
  integer i, j;
  (* force_downto *) reg [WIDTH-1:0] p, g;
  wire [1023:0] _TECHMAP_DO_ = "proc; opt -fast";
  always @* begin
    p = P;
    g = G;
    g[0] = G[0] | (P[0] & CI);
    // In falling order, so that g[j-i] and p[j-i] are those of the level before.
    for (i = 1; i < WIDTH; i = i * 2)
      for (j = WIDTH - 1; j >= i; j = j - 1)
        if (DENSE || j % 2 == 1) begin
          g[j] = g[j] | (p[j] & g[j-i]);
          p[j] = p[j] & p[j-i];
        end
    if (!DENSE) for (j = 2; j < WIDTH; j = j + 2) g[j] = g[j] | (p[j] & g[j-1]);
  end
  assign CO = g;
endmodule
