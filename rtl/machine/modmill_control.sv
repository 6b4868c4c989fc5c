// Sequence of stages and of the resolver's reads.
//
// idle -> forward 0 .. S-1 -> inverse S .. 2S-1 -> forward 0 of the next product if both input buffers are full, otherwise idle.
// A stage is followed by GAP idle cycles. The cycle after the last stage (and its gap) begins the reading of the result, row by
// row; the first stage of the next product, which reads no memory, may run in the same cycles.
module modmill_control #(
    parameter integer STAGES = 4,
    parameter integer GAP = 0
) (
    input  logic                        clk,
    input  logic                        aresetn,
    input  logic                        enable,
    input  logic                        operands_ready,
    output logic                        release_operands,
    output logic                        issue,
    output logic [$clog2(2*STAGES)-1:0] stage,
    output logic [    4*(STAGES-1)-1:0] step,
    output logic                        parity,
    output logic                        unload,
    output logic [    4*(STAGES-1)-1:0] unload_row,
    output logic                        unload_parity
);
  localparam integer STEP = 4 * (STAGES - 1);
  localparam logic [STEP-1:0] LAST_FORWARD = '1;
  localparam logic [STEP-1:0] LAST_INVERSE = LAST_FORWARD >> 1;
  localparam integer LAST_STAGE = 2 * STAGES - 1;

  logic waiting;  // in the gap after a stage
  logic [7:0] wait_left;
  logic last_step, stage_ends, product_ends;
  assign last_step = issue && step == ((32'(stage) >= STAGES) ? LAST_INVERSE : LAST_FORWARD);
  assign stage_ends = (GAP == 0) ? last_step : (waiting && wait_left == 8'd0);
  assign product_ends = stage_ends && 32'(stage) == LAST_STAGE;
  assign release_operands = enable && last_step && stage == '0;

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      issue   <= 1'b0;
      waiting <= 1'b0;
      stage   <= '0;
      step    <= '0;
      parity  <= 1'b0;
      unload  <= 1'b0;
    end else if (enable) begin
      if (issue) step <= last_step ? '0 : step + 1'b1;
      if (GAP != 0) begin
        if (last_step) begin
          issue <= 1'b0;
          waiting <= 1'b1;
          wait_left <= 8'(GAP - 1);
        end else if (waiting) begin
          wait_left <= wait_left - 1'b1;
          if (wait_left == 8'd0) waiting <= 1'b0;
        end
      end
      if (product_ends) begin
        stage  <= '0;
        parity <= !parity;
        issue  <= operands_ready;
      end else if (stage_ends) begin
        stage <= stage + 1'b1;
        issue <= 1'b1;
      end else if (!issue && !waiting) begin
        issue <= operands_ready;
      end

      if (product_ends) begin
        unload <= 1'b1;
        unload_row <= '0;
        unload_parity <= parity;
      end else if (unload) begin
        unload_row <= unload_row + 1'b1;
        if (&unload_row) unload <= 1'b0;
      end
    end
  end
endmodule
