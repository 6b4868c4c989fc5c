// Multiplier of two numbers of DIGIT N/2 bits, N = 16^STAGES; 768 Kbit for STAGES = 4. See README.md for its
// use.
//
// The product is the convolution of the operands' digits, by transforms of N points over p = 2^64 - 2^32 + 1.
// Two processors work in two memories of 16 banks; study/hardware/DESIGN.md has the schedule. A group of
// positions that is issued in cycle c
//   c       has its read rows on the ports of the memories; they have been computed since cycle c - 3 (AHEAD),
//   c + 1   is at the memories' outputs,
//   c + 2   is turned so that lane 0 comes first,
//   c + 3   is chosen from both memories and the input buffers,
//   c + 4   is at the processors' inputs, and so are its exponents,
//   c + 16  is at their outputs,
//   c + 17  is on the write ports (LATENCY).
// `enable` is 0 while a word of the result waits for its reader; it stops all but the input ports.
module modmill_multiplier #(
    parameter integer STAGES = 4,
    parameter integer DIGIT = 24,
    // 0: Booth multipliers of logic gates. 1: multipliers of an FPGA.
    parameter integer EMBEDDED = 0,
    // The table of twiddle factors, for `$readmemh`.
    parameter TABLE = "twiddles.hex"
) (
    input  logic                clk,
    input  logic                aresetn,
    input  logic                s_axis_a_tvalid,
    output logic                s_axis_a_tready,
    input  logic [16*DIGIT-1:0] s_axis_a_tdata,
    input  logic                s_axis_a_tlast,
    input  logic                s_axis_b_tvalid,
    output logic                s_axis_b_tready,
    input  logic [16*DIGIT-1:0] s_axis_b_tdata,
    input  logic                s_axis_b_tlast,
    output logic                m_axis_tvalid,
    input  logic                m_axis_tready,
    output logic [16*DIGIT-1:0] m_axis_tdata,
    output logic                m_axis_tlast,
    output logic                framing_error
);
  localparam integer LATENCY = 17;  // 16 or more: the first stage must not reach the rows that are being unloaded
  localparam integer GAP = (STAGES == 4) ? 0 : LATENCY;
  localparam integer AHEAD = 3;  // registers before the ports of the memories
  localparam integer ROW = 4 * (STAGES - 1);
  localparam integer STAGE = $clog2(2 * STAGES);
  localparam integer POSITION = 4 * STAGES;
  // Numbers of the stages that multiply the spectra and that cross the memories.
  localparam integer PRODUCT = STAGES - 1;
  localparam integer CROSSING = 2 * STAGES - 1;
  localparam logic [7:0] SCALE = 8'(192 - 4 * STAGES);  // 1/N = 2^(-4 STAGES)

  logic enable;
  assign enable = !(m_axis_tvalid && !m_axis_tready);

  // Control.
  logic full_a, full_b, error_a, error_b, release_operands, issue, parity, read_parity, unload, unload_parity;
  logic [STAGE-1:0] stage, read_stage;
  logic [ROW-1:0] step, read_step, unload_row;
  assign framing_error = error_a || error_b;
  modmill_control #(
      .STAGES(STAGES),
      .GAP(GAP),
      .AHEAD(AHEAD)
  ) control (
      .operands_ready(full_a && full_b),
      .*
  );

  // The steps that were issued k enabled cycles ago.
  localparam integer BACK = LATENCY - 1;  // results are on their way back in this cycle
  logic [BACK:1] issue_at, parity_at;
  logic [STAGE*BACK-1:0] stages;
  logic [ROW*BACK-1:0] steps;
  logic [STAGE-1:0] stage_2, stage_4, stage_9, stage_back;
  always_ff @(posedge clk) begin
    if (!aresetn) issue_at <= '0;
    else if (enable) issue_at <= {issue_at[BACK-1:1], issue};
    if (enable) begin
      parity_at <= {parity_at[BACK-1:1], parity};
      stages <= {stages[STAGE*(BACK-1)-1:0], stage};
      steps <= {steps[ROW*(BACK-1)-1:0], step};
    end
  end
  assign stage_2 = stages[STAGE+:STAGE];
  assign stage_4 = stages[3*STAGE+:STAGE];
  assign stage_9 = stages[8*STAGE+:STAGE];
  assign stage_back = stages[(BACK-1)*STAGE+:STAGE];

  // Input buffers, which the first stage reads.
  logic [16*DIGIT-1:0] lanes_a, lanes_b;
  logic [POSITION-1:0] position_first;
  modmill_group #(
      .STAGES(STAGES)
  ) group_first (
      .stage({STAGE{1'b0}}),
      .step,
      .base0(position_first),
      .base1(),
      .inverse(),
      .crossing(),
      .digit(),
      .bank0(),
      .bank1()
  );
  modmill_input #(
      .STAGES(STAGES),
      .DIGIT (DIGIT)
  ) input_a (
      .clk,
      .aresetn,
      .s_axis_tvalid(s_axis_a_tvalid),
      .s_axis_tready(s_axis_a_tready),
      .s_axis_tdata(s_axis_a_tdata),
      .s_axis_tlast(s_axis_a_tlast),
      .full(full_a),
      .framing_error(error_a),
      .release_buffer(release_operands),
      .read_enable(enable),
      .base(position_first),
      .lanes(lanes_a)
  );
  modmill_input #(
      .STAGES(STAGES),
      .DIGIT (DIGIT)
  ) input_b (
      .clk,
      .aresetn,
      .s_axis_tvalid(s_axis_b_tvalid),
      .s_axis_tready(s_axis_b_tready),
      .s_axis_tdata(s_axis_b_tdata),
      .s_axis_tlast(s_axis_b_tlast),
      .full(full_b),
      .framing_error(error_b),
      .release_buffer(release_operands),
      .read_enable(enable),
      .base(position_first),
      .lanes(lanes_b)
  );

  // Memories. A row of the result is read as a group of the stage over digit 0. Three registers before the
  // ports: what is read, its group, its rows.
  logic write_a, write_b;
  logic [3:0] turn_a, turn_b, turn_a_1, turn_b_1;
  logic [16*ROW-1:0] read_rows_a, read_rows_b, write_rows_a, write_rows_b;
  logic [1023:0] read_a, read_b, write_data_a, write_data_b;
  logic [STAGE-1:0] chosen_stage;
  logic [ROW-1:0] chosen_step;
  logic chosen_parity;
  always_ff @(posedge clk) begin
    if (enable) begin
      chosen_stage  <= unload ? STAGE'(STAGES - 1) : read_stage;
      chosen_step   <= unload ? unload_row : read_step;
      chosen_parity <= unload ? unload_parity : read_parity;
    end
  end
  modmill_addresses #(
      .STAGES(STAGES)
  ) read_addresses (
      .clk,
      .enable,
      .stage(chosen_stage),
      .step(chosen_step),
      .parity(chosen_parity),
      .rotation_a(turn_a),
      .rotation_b(turn_b),
      .rows_a(read_rows_a),
      .rows_b(read_rows_b),
      .upper()
  );
  modmill_memory #(
      .ADDRESS(ROW)
  ) memory_a (
      .clk,
      .read_enable(enable),
      .read_rows(read_rows_a),
      .read_data(read_a),
      .write_enable(enable && write_a),
      .write_rows(write_rows_a),
      .write_data(write_data_a)
  );
  modmill_memory #(
      .ADDRESS(ROW)
  ) memory_b (
      .clk,
      .read_enable(enable),
      .read_rows(read_rows_b),
      .read_data(read_b),
      .write_enable(enable && write_b),
      .write_rows(write_rows_b),
      .write_data(write_data_b)
  );

  logic [1023:0] turned_a, turned_b, group_a, group_b;
  // The resolver takes all rows from this side; those of the upper half of the product are in memory B.
  logic unload_upper_1;
  modmill_rotate turn_read_a (.amount(turn_a_1), .x(unload_upper_1 ? read_b : read_a), .y(turned_a));
  modmill_rotate turn_read_b (.amount(turn_b_1), .x(read_b), .y(turned_b));
  always_ff @(posedge clk) begin
    if (enable) begin
      turn_a_1 <= turn_a;
      turn_b_1 <= turn_b;
      group_a  <= turned_a;
      group_b  <= turned_b;
    end
  end

  // Cycle c + 2: the crossing stage takes halves of both memories. Cycle c + 3: a register more, because the
  // exponents take that long.
  logic [1023:0] chosen0, chosen1, lanes0, lanes1, digits_a, digits_b;
  always_comb begin
    digits_a = '0;
    digits_b = '0;
    for (int i = 0; i < 8; i++) begin
      digits_a[64*i+:DIGIT] = lanes_a[DIGIT*i+:DIGIT];
      digits_b[64*i+:DIGIT] = lanes_b[DIGIT*i+:DIGIT];
    end
  end
  always_ff @(posedge clk) begin
    if (enable) begin
      if (32'(stage_2) == 0) begin
        chosen0 <= digits_a;
        chosen1 <= digits_b;
      end else if (32'(stage_2) == CROSSING) begin
        chosen0 <= {group_b[1023:512], group_a[511:0]};
        chosen1 <= {group_b[511:0], group_a[1023:512]};
      end else begin
        chosen0 <= group_a;
        chosen1 <= group_b;
      end
      lanes0 <= chosen0;
      lanes1 <= chosen1;
    end
  end

  // Cycles c + 4 to c + 16: the processors.
  logic [255:0] exponents0, exponents1;
  modmill_exponents #(
      .STAGES(STAGES)
  ) exponents (
      .clk,
      .enable,
      .stage,
      .step,
      .exponents0,
      .exponents1
  );
  logic inverse_9, product_9, scale_4;
  logic [1023:0] transform0, transform1, results0, results1;
  assign scale_4   = 32'(stage_4) == CROSSING;
  assign inverse_9 = 32'(stage_9) >= STAGES;
  assign product_9 = 32'(stage_9) == PRODUCT;
  modmill_processor #(
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE),
      .SCALE(SCALE)
  ) processor0 (
      .clk,
      .enable,
      .lanes(lanes0),
      .exponents(exponents0),
      .scale(scale_4),
      .inverse(inverse_9),
      .product(product_9),
      .other(transform1),
      .transform(transform0),
      .results(results0)
  );
  modmill_processor #(
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE),
      .SCALE(SCALE)
  ) processor1 (
      .clk,
      .enable,
      .lanes(lanes1),
      .exponents(exponents1),
      .scale(scale_4),
      .inverse(inverse_9),
      .product(1'b0),
      .other(1024'b0),
      .transform(transform1),
      .results(results1)
  );

  // Cycle c + 16: results go back the way that the operands came. The products of the two spectra are
  // processor 0's; the upper half of the positions goes to memory B.
  logic [3:0] back_a, back_b;
  logic [16*ROW-1:0] rows_a_16, rows_b_16;
  logic upper, product_16, crossing_16;
  logic [1023:0] for_a, for_b, turned_back_a, turned_back_b;
  modmill_addresses #(
      .STAGES(STAGES)
  ) write_addresses (
      .clk,
      .enable,
      .stage(stages[(BACK-3)*STAGE+:STAGE]),
      .step(steps[(BACK-3)*ROW+:ROW]),
      .parity(parity_at[BACK-2]),
      .rotation_a(back_a),
      .rotation_b(back_b),
      .rows_a(rows_a_16),
      .rows_b(rows_b_16),
      .upper
  );
  assign product_16 = 32'(stage_back) == PRODUCT;
  assign crossing_16 = 32'(stage_back) == CROSSING;
  assign for_a = crossing_16 ? {results1[511:0], results0[511:0]} : results0;
  assign for_b = crossing_16 ? {results0[1023:512], results1[1023:512]} : product_16 ? results0 : results1;
  modmill_rotate turn_write_a (.amount(4'd0 - back_a), .x(for_a), .y(turned_back_a));
  modmill_rotate turn_write_b (.amount(4'd0 - back_b), .x(for_b), .y(turned_back_b));
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      write_a <= 1'b0;
      write_b <= 1'b0;
    end else if (enable) begin
      write_a <= issue_at[BACK] && !(product_16 && upper);
      write_b <= issue_at[BACK] && !(product_16 && !upper);
    end
    if (enable) begin
      write_rows_a <= rows_a_16;
      write_rows_b <= rows_b_16;
      write_data_a <= turned_back_a;
      write_data_b <= turned_back_b;
    end
  end

  // A row of the result comes to the resolver in the cycle in which its group is turned, c + 2.
  localparam integer TURNED = AHEAD + 2;
  logic [TURNED:1] unload_at, unload_first_at, unload_last_at, unload_upper_at;
  assign unload_upper_1 = unload_at[TURNED-1] && unload_upper_at[TURNED-1];
  always_ff @(posedge clk) begin
    if (!aresetn) unload_at <= '0;
    else if (enable) unload_at <= {unload_at[TURNED-1:1], unload};
    if (enable) begin
      unload_first_at <= {unload_first_at[TURNED-1:1], unload_row == '0};
      unload_last_at  <= {unload_last_at[TURNED-1:1], &unload_row};
      unload_upper_at <= {unload_upper_at[TURNED-1:1], unload_row[ROW-1]};
    end
  end
  modmill_resolver #(
      .DIGIT(DIGIT)
  ) resolver (
      .clk,
      .aresetn,
      .enable,
      .in_valid(unload_at[TURNED]),
      .in_first(unload_first_at[TURNED]),
      .in_last(unload_last_at[TURNED]),
      .values(group_a),
      .out_valid(m_axis_tvalid),
      .out_last(m_axis_tlast),
      .digits(m_axis_tdata)
  );
endmodule
