// Sequence of stages, of the memories' reads and of the resolver's.
//
// Stages begin when both input buffers are full. `issue`, `stage`, `step` and `parity` are those of the
// current cycle. What is read from the memories is known AHEAD cycles before: the first stage reads the input
// buffers, so that a second sequence, which leaves out its first AHEAD steps, is never late. The cycle after
// the last stage (and its gap) begins the reading of the result, row by row: a row is a group of the stage
// over digit 0. The first stage of the next product may run in the same cycles.
module modmill_control #(
    parameter integer STAGES = 4,
    parameter integer GAP = 0,
    parameter integer AHEAD = 3
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
    // AHEAD cycles before their time.
    output logic [$clog2(2*STAGES)-1:0] read_stage,
    output logic [    4*(STAGES-1)-1:0] read_step,
    output logic                        read_parity,
    output logic                        unload,
    output logic [    4*(STAGES-1)-1:0] unload_row,
    output logic                        unload_parity
);
  logic may_start, start, last_step, read_ends;
  assign start = may_start && operands_ready;
  assign release_operands = enable && last_step && stage == '0;
  modmill_sequence #(
      .STAGES(STAGES),
      .GAP(GAP)
  ) sequence_of_stages (
      .product_ends(),
      .*
  );
  modmill_sequence #(
      .STAGES(STAGES),
      .GAP(GAP),
      .FIRST(AHEAD)
  ) sequence_of_reads (
      .may_start(),
      .issue(),
      .stage(read_stage),
      .step(read_step),
      .parity(read_parity),
      .last_step(),
      .product_ends(read_ends),
      .*
  );

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      unload <= 1'b0;
    end else if (enable) begin
      if (read_ends) begin
        unload <= 1'b1;
        unload_row <= '0;
        unload_parity <= read_parity;
      end else if (unload) begin
        unload_row <= unload_row + 1'b1;
        if (&unload_row) unload <= 1'b0;
      end
    end
  end
endmodule
