// Phases of an operation, and the cycle within the phase.
//
// OPERATION 0 transforms memory `target` (1: Y, 2: M', 3: M) in place: 300 cycles. 1 multiplies X by the
// transform in Y, 2 squares X: 2030 cycles. 3 transforms Y and multiplies: 2330 cycles. A phase is a stage of
// 150 cycles or a pass of 46 (see study/hardware/DESIGN.md, part 3). A new operation may start in the last
// cycle of the one before.
module modmill_modular_control (
    input  logic       clk,
    input  logic       aresetn,
    input  logic       start,
    input  logic [1:0] operation,
    input  logic [1:0] target,
    output logic       ready,
    output logic       busy,
    output logic [7:0] cycle,      // in the phase
    output logic       stage,      // the phase is a stage
    output logic       down,       // over n1
    output logic       inverse,
    output logic       fresh,      // only rows 0 .. 15 hold samples
    output logic [1:0] samples,    // 0: X, 1: Y, 2: M', 3: M
    output logic       first,      // the first phase of a product
    output logic       operand,    // multiply by a transform
    output logic [1:0] factor,     // 0: the transform itself, 1: Y, 2: M', 3: M
    output logic [2:0] pass        // 0: T, 1: U, 2: W, 3: add, 4: subtract
);
  logic [4:0] phase;
  logic [1:0] kind, memory;
  logic done;

  // Phases 0 and 1 transform `target`; 2 .. 18 are algorithm 7.1.
  always_comb begin
    {stage, down, inverse, fresh, operand} = 5'b0;
    factor = 2'd0;
    pass = 3'd0;
    case (phase)
      5'd0, 5'd2, 5'd7, 5'd12: {stage, down, fresh} = 3'b111;
      5'd1: stage = 1'b1;
      5'd3: begin
        {stage, operand} = 2'b11;
        factor = (kind == 2'd2) ? 2'd0 : 2'd1;
      end
      5'd8: begin
        {stage, operand} = 2'b11;
        factor = 2'd2;
      end
      5'd13: begin
        {stage, operand} = 2'b11;
        factor = 2'd3;
      end
      5'd4, 5'd9, 5'd14: {stage, inverse} = 2'b11;
      5'd5, 5'd10, 5'd15: {stage, inverse, down} = 3'b111;
      5'd6: pass = 3'd0;
      5'd11: pass = 3'd1;
      5'd16: pass = 3'd2;
      5'd17: pass = 3'd3;
      default: pass = 3'd4;
    endcase
  end
  assign samples = (phase < 5'd2) ? memory : 2'd0;
  assign first   = phase == 5'd2;

  logic last_cycle;
  assign last_cycle = cycle == (stage ? 8'd149 : 8'd45);
  assign done = last_cycle && phase == ((kind == 2'd0) ? 5'd1 : 5'd18);
  assign ready = !busy || done;

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      busy <= 1'b0;
    end else if (start && ready) begin
      busy <= 1'b1;
    end else if (done) begin
      busy <= 1'b0;
    end
    if (start && ready) begin
      phase <= (operation == 2'd0 || operation == 2'd3) ? 5'd0 : 5'd2;
      kind <= operation;
      memory <= (operation == 2'd3) ? 2'd1 : target;
      cycle <= 8'd0;
    end else if (busy) begin
      cycle <= last_cycle ? 8'd0 : cycle + 8'd1;
      if (last_cycle) phase <= phase + 5'd1;
    end
  end
endmodule
