// Exponents of the 16 twiddle factors of both units' groups, four registers deep:
//
//   forward over digit d >= 1:  e_j =  j (n mod 16^d) 16^(3-d)
//   inverse over d <= S-2:      e_j = -n_(d+1) (16^d j + (n mod 16^d)) 16^(2-d)
//   crossing stage:             e_j = 0
//
// modulo 65536. All have the form e_j = base + j slope. In the product stage the factors are not used.
module modmill_exponents #(
    parameter integer STAGES = 4
) (
    input  logic                        clk,
    input  logic                        enable,
    input  logic [$clog2(2*STAGES)-1:0] stage,
    input  logic [    4*(STAGES-1)-1:0] step,
    output logic [                255:0] exponents0,
    output logic [                255:0] exponents1
);
  logic inverse, crossing;
  logic [$clog2(STAGES+1)-1:0] digit;
  logic [4*STAGES-1:0] base0, base1;
  modmill_group #(
      .STAGES(STAGES)
  ) group (
      .bank0(),
      .bank1(),
      .*
  );
  modmill_exponent_lines #(
      .STAGES(STAGES)
  ) unit0 (
      .position (base0),
      .exponents(exponents0),
      .*
  );
  modmill_exponent_lines #(
      .STAGES(STAGES)
  ) unit1 (
      .position (base1),
      .exponents(exponents1),
      .*
  );
endmodule
