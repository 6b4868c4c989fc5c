// All carries of a word of COUNT digits at once (equation 5.7 of the thesis). Purely combinational.
//
//   carries = ((generates << 1) + carry_in + critical) xor critical
//
// in which carry_in takes the place that the shift leaves free. Digit i generates a carry if it has
// overflowed, and passes one on if it is critical, that is, all ones; never both. carries[i] goes into digit
// i; carries[COUNT] leaves the word.
module modmill_lookahead #(
    parameter integer COUNT = 16
) (
    input  logic [COUNT-1:0] generates,
    input  logic [COUNT-1:0] critical,
    input  logic             carry_in,
    output logic [  COUNT:0] carries
);
  assign carries = ({generates, carry_in} + {1'b0, critical}) ^ {1'b0, critical};
endmodule
