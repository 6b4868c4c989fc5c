// Multiplier of two numbers of DIGIT N/2 bits, N = 16^STAGES; 768 Kbit for STAGES = 4. See README.md for its use.
//
// The product is the convolution of the operands' digits, by transforms of N points over p = 2^64 - 2^32 + 1. Two
// processors work in two memories of 16 banks; crates/hardware/DESIGN.md has the schedule. A group of positions that is issued in cycle c
//   c       has its read rows on the ports of the memories,
//   c + 1   is at the memories' outputs,
//   c + 2   is turned so that lane 0 comes first,
//   c + 3   is at the processors' inputs,
//   c + 15  is at their outputs,
//   c + 16  is on the write ports (LATENCY).
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
  localparam integer LATENCY = 16;  // not less: the first stage must not reach the rows that are being unloaded
  localparam integer GAP = (STAGES == 4) ? 0 : LATENCY;
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
  logic full_a, full_b, error_a, error_b, release_operands, issue, parity, unload, unload_parity;
  logic [STAGE-1:0] stage;
  logic [ROW-1:0] step, unload_row;
  assign framing_error = error_a || error_b;
  modmill_control #(
      .STAGES(STAGES),
      .GAP(GAP)
  ) control (
      .operands_ready(full_a && full_b),
      .*
  );

  // What was issued k enabled cycles ago.
  localparam integer BACK = LATENCY - 1;  // results are on their way back in this cycle
  logic [BACK:1] issue_at, parity_at;
  logic [STAGE*BACK-1:0] stages;
  logic [ROW*BACK-1:0] steps;
  logic [STAGE-1:0] stage_1, stage_2, stage_3, stage_8, stage_back;
  logic [ROW-1:0] step_1, step_back;
  always_ff @(posedge clk) begin
    if (!aresetn) issue_at <= '0;
    else if (enable) issue_at <= {issue_at[BACK-1:1], issue};
    if (enable) begin
      parity_at <= {parity_at[BACK-1:1], parity};
      stages <= {stages[STAGE*(BACK-1)-1:0], stage};
      steps <= {steps[ROW*(BACK-1)-1:0], step};
    end
  end
  assign stage_1 = stages[0+:STAGE];
  assign stage_2 = stages[STAGE+:STAGE];
  assign stage_3 = stages[2*STAGE+:STAGE];
  assign stage_8 = stages[7*STAGE+:STAGE];
  assign stage_back = stages[(BACK-1)*STAGE+:STAGE];
  assign step_1 = steps[0+:ROW];
  assign step_back = steps[(BACK-1)*ROW+:ROW];

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

  // Memories. A row of the result is read as a group of the stage over digit 0.
  logic write_a, write_b;
  logic [3:0] turn_a, turn_b, turn_a_1, turn_b_1;
  logic [16*ROW-1:0] read_rows_a, read_rows_b, write_rows_a, write_rows_b;
  logic [1023:0] read_a, read_b, write_data_a, write_data_b;
  modmill_addresses #(
      .STAGES(STAGES)
  ) read_addresses (
      .stage(unload ? STAGE'(STAGES - 1) : stage),
      .step(unload ? unload_row : step),
      .parity(unload ? unload_parity : parity),
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
  modmill_rotate turn_read_a (.amount(turn_a_1), .x(read_a), .y(turned_a));
  modmill_rotate turn_read_b (.amount(turn_b_1), .x(read_b), .y(turned_b));
  always_ff @(posedge clk) begin
    if (enable) begin
      turn_a_1 <= turn_a;
      turn_b_1 <= turn_b;
      group_a  <= turned_a;
      group_b  <= turned_b;
    end
  end

  // Cycle c + 2: the processors' inputs. The crossing stage takes halves of both memories.
  logic [1023:0] lanes0, lanes1, digits_a, digits_b;
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
        lanes0 <= digits_a;
        lanes1 <= digits_b;
      end else if (32'(stage_2) == CROSSING) begin
        lanes0 <= {group_b[1023:512], group_a[511:0]};
        lanes1 <= {group_b[511:0], group_a[1023:512]};
      end else begin
        lanes0 <= group_a;
        lanes1 <= group_b;
      end
    end
  end

  // Cycles c + 3 to c + 15: the processors.
  logic [255:0] exponents0, exponents1;
  modmill_exponents #(
      .STAGES(STAGES)
  ) exponents (
      .clk,
      .enable,
      .stage(stage_1),
      .step(step_1),
      .exponents0,
      .exponents1
  );
  logic inverse_8, product_8, scale_3;
  logic [1023:0] transform0, transform1, results0, results1;
  assign scale_3   = 32'(stage_3) == CROSSING;
  assign inverse_8 = 32'(stage_8) >= STAGES;
  assign product_8 = 32'(stage_8) == PRODUCT;
  modmill_processor #(
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE),
      .SCALE(SCALE)
  ) processor0 (
      .clk,
      .enable,
      .lanes(lanes0),
      .exponents(exponents0),
      .scale(scale_3),
      .inverse(inverse_8),
      .product(product_8),
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
      .scale(scale_3),
      .inverse(inverse_8),
      .product(1'b0),
      .other(1024'b0),
      .transform(transform1),
      .results(results1)
  );

  // Cycle c + 15: results go back the way that the operands came. The products of the two spectra are processor 0's;
  // the upper half of the positions goes to memory B.
  logic [3:0] back_a, back_b;
  logic [16*ROW-1:0] rows_a_15, rows_b_15;
  logic upper, product_15, crossing_15;
  logic [1023:0] for_a, for_b, turned_back_a, turned_back_b;
  modmill_addresses #(
      .STAGES(STAGES)
  ) write_addresses (
      .stage(stage_back),
      .step(step_back),
      .parity(parity_at[BACK]),
      .rotation_a(back_a),
      .rotation_b(back_b),
      .rows_a(rows_a_15),
      .rows_b(rows_b_15),
      .upper
  );
  assign product_15 = 32'(stage_back) == PRODUCT;
  assign crossing_15 = 32'(stage_back) == CROSSING;
  assign for_a = crossing_15 ? {results1[511:0], results0[511:0]} : results0;
  assign for_b = crossing_15 ? {results0[1023:512], results1[1023:512]} : product_15 ? results0 : results1;
  modmill_rotate turn_write_a (.amount(4'd0 - back_a), .x(for_a), .y(turned_back_a));
  modmill_rotate turn_write_b (.amount(4'd0 - back_b), .x(for_b), .y(turned_back_b));
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      write_a <= 1'b0;
      write_b <= 1'b0;
    end else if (enable) begin
      write_a <= issue_at[BACK] && !(product_15 && upper);
      write_b <= issue_at[BACK] && !(product_15 && !upper);
    end
    if (enable) begin
      write_rows_a <= rows_a_15;
      write_rows_b <= rows_b_15;
      write_data_a <= turned_back_a;
      write_data_b <= turned_back_b;
    end
  end

  // The resolver takes rows from cycle c + 2 on, from memory A for the lower half of the product.
  logic [2:1] unload_at, unload_first_at, unload_last_at, unload_upper_at;
  always_ff @(posedge clk) begin
    if (!aresetn) unload_at <= '0;
    else if (enable) unload_at <= {unload_at[1], unload};
    if (enable) begin
      unload_first_at <= {unload_first_at[1], unload_row == '0};
      unload_last_at  <= {unload_last_at[1], &unload_row};
      unload_upper_at <= {unload_upper_at[1], unload_row[ROW-1]};
    end
  end
  modmill_resolver #(
      .DIGIT(DIGIT)
  ) resolver (
      .clk,
      .aresetn,
      .enable,
      .in_valid(unload_at[2]),
      .in_first(unload_first_at[2]),
      .in_last(unload_last_at[2]),
      .values(unload_upper_at[2] ? group_b : group_a),
      .out_valid(m_axis_tvalid),
      .out_last(m_axis_tlast),
      .digits(m_axis_tdata)
  );
endmodule
