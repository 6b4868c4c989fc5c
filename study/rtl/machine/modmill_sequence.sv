// Stages and steps of one product after the other.
//
// idle -> forward 0 .. S-1 -> inverse S .. 2S-1 -> forward 0 of the next product on `start`, otherwise idle.
// A stage is followed by GAP idle cycles. The first stage begins with step FIRST: a sequence that is to be
// FIRST cycles ahead of another starts in the same cycle.
module modmill_sequence #(
    parameter integer STAGES = 4,
    parameter integer GAP = 0,
    parameter integer FIRST = 0
) (
    input  logic                        clk,
    input  logic                        aresetn,
    input  logic                        enable,
    input  logic                        start,         // only while `may_start`
    output logic                        may_start,
    output logic                        issue,
    output logic [$clog2(2*STAGES)-1:0] stage,
    output logic [    4*(STAGES-1)-1:0] step,
    output logic                        parity,
    output logic                        last_step,
    output logic                        product_ends
);
  localparam integer STEP = 4 * (STAGES - 1);
  localparam logic [STEP-1:0] LAST_FORWARD = '1;
  localparam logic [STEP-1:0] LAST_INVERSE = LAST_FORWARD >> 1;
  localparam integer LAST_STAGE = 2 * STAGES - 1;

  logic waiting;  // in the gap after a stage
  logic [7:0] wait_left;
  logic stage_ends;
  assign last_step = issue && step == ((32'(stage) >= STAGES) ? LAST_INVERSE : LAST_FORWARD);
  assign stage_ends = (GAP == 0) ? last_step : (waiting && wait_left == 8'd0);
  assign product_ends = stage_ends && 32'(stage) == LAST_STAGE;
  assign may_start = product_ends || (!issue && !waiting);

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      issue   <= 1'b0;
      waiting <= 1'b0;
      stage   <= '0;
      step    <= '0;
      parity  <= 1'b0;
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
      if (product_ends) parity <= !parity;
      if (start) begin
        issue <= 1'b1;
        stage <= '0;
        step  <= STEP'(FIRST);
      end else if (product_ends) begin
        issue <= 1'b0;
        stage <= '0;
      end else if (stage_ends) begin
        issue <= 1'b1;
        stage <= stage + 1'b1;
      end
    end
  end
endmodule
