// y = v mod p for p = 2^64 - 2^32 + 1 and v <= 5 (2^64 - 1) + 1. Purely combinational.
//
// With v = 2^64 t + low and 2^64 = e mod p, e = 2^32 - 1, the result is
//   low + (t + 1) e - 2^64   if low + (t + 1) e >= 2^64,   otherwise   low + t e.
// The first is low + t e - p. It is taken exactly when low + t e >= p, and it is below p because
// low + t e < 2^64 + 5 2^32 < 2 p. So one choice serves both the overflow and the reduction.
//
// No long addition is needed: t <= 5 has three bits, so that low + 2^32 t - t changes only the three lowest
// bits of each half of low by more than 1. Half h = 8 upper + h[2:0] becomes itself or its successor in
// `upper`, half l = 8 middle + l[2:0] itself or its predecessor in `middle`.
module modmill_fold_last (
    input  logic [66:0] v,
    output logic [63:0] y
);
  // Bit i is 1 if all bits of x below i are: these change in x + 1. Every step doubles the distance that a
  // bit has seen, so that the path is five gates long; an adder of general words with a constant in it is
  // longer.
  function automatic [28:0] ones_below(input [28:0] x);
    ones_below = {x[27:0], 1'b1};
    for (integer distance = 1; distance < 29; distance = 2 * distance)
      ones_below = ones_below & ((ones_below << distance) | 29'((1 << distance) - 1));
  endfunction

  logic [2:0] t;
  logic [28:0] upper, middle, successor, predecessor;
  assign t = v[66:64];
  assign upper = v[63:35];
  assign middle = v[31:3];
  assign successor = upper ^ ones_below(upper);
  assign predecessor = middle ^ ones_below(~middle);

  // (t + 1) e = 2^32 t + (2^32 - 1 - t), and t e is 2^32 - 1 less. Bit 3 is 1 if the three bits are no less
  // than what is taken away.
  logic [3:0] low_reduced, low_plain;
  logic carry_reduced, carry_plain;
  assign low_reduced = {1'b0, v[2:0]} + {1'b0, ~t};
  assign low_plain = {1'b0, v[2:0]} + {1'b0, ~t} + 4'd1;
  assign carry_reduced = low_reduced[3] || |middle;
  assign carry_plain = low_plain[3] || |middle;

  // The upper half plus t - 1, t and t + 1. For t = 0 the first is not chosen: low_plain[3] is 1.
  logic [3:0] high_less, high_same, high_more, high_reduced, high_plain;
  assign high_less = {1'b0, v[34:32]} + {1'b0, t - 3'd1};
  assign high_same = {1'b0, v[34:32]} + {1'b0, t};
  assign high_more = {1'b0, v[34:32]} + {1'b0, t} + 4'd1;
  assign high_reduced = carry_reduced ? high_more : high_same;
  assign high_plain = carry_plain ? high_same : high_less;

  logic overflow;
  logic [3:0] high, low;
  assign overflow = high_reduced[3] && &upper;
  assign high = overflow ? high_reduced : high_plain;
  assign low = overflow ? low_reduced : low_plain;
  assign y = {high[3] ? successor : upper, high[2:0], low[3] ? middle : predecessor, low[2:0]};
endmodule
