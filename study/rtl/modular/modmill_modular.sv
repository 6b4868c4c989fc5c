// Modular multiplier of chapter 7: Montgomery's product x y R^-1 mod M, R = 2^(512 DIGIT), by transforms of
// 1024 points.
//
// Memories: X (samples), Y, and the transforms of M' = -M^-1 mod R and M; T (digits); R - M (digits). The
// host writes rows of 32 digits while the machine is idle: X (0) the first factor, Y (1) the second, M' (2),
// M (3), R - M (4); Y, M' and M are then transformed by operation 0. The result is below M if both factors
// are. It is read row by row, and is also the first factor of the next product. Operations and cycles:
// modmill_modular_control. Schedule: study/hardware/DESIGN.md, part 3.
module modmill_modular #(
    parameter integer DIGIT = 16,
    parameter integer EMBEDDED = 0,
    parameter TABLE = "twiddles.hex"
) (
    input  logic                clk,
    input  logic                aresetn,
    input  logic                start,
    input  logic [         1:0] operation,
    input  logic [         1:0] target,
    output logic                ready,
    output logic                busy,
    input  logic                host_write,
    input  logic [         2:0] host_memory,
    input  logic [         3:0] host_row,
    input  logic [32*DIGIT-1:0] host_digits,
    input  logic                host_read,
    output logic [32*DIGIT-1:0] host_result  // two cycles after host_read
);
  logic [7:0] cycle;
  logic stage, down, inverse, fresh, first, operand;
  logic [1:0] samples, factor;
  logic [2:0] pass;
  modmill_modular_control control (.*);

  // Reads. A stage reads a group each fourth cycle of its first 128, a pass a row each cycle.
  logic read_stage, read_pass, read_other, in_t, result_in_t;
  logic [4:0] read_group;
  assign read_stage = busy && stage && cycle < 8'd128 && cycle[1:0] == 2'd0;
  assign read_pass = busy && !stage && cycle < ((pass == 3'd4) ? 8'd16 : 8'd32);
  assign read_group = !busy ? {1'b0, host_row} : stage ? cycle[6:2] : cycle[4:0];
  // The other factor's row, for cycles 4 g + 12 to 4 g + 15.
  logic [7:0] at_other;
  assign at_other = cycle - 8'd11;
  assign read_other = busy && stage && operand && cycle >= 8'd11 && cycle < 8'd139 && at_other[1:0] == 2'd0;
  // The result of the product before may be in T.
  assign in_t = result_in_t && (first || !busy);

  logic [4*2048-1:0] data;
  logic [2047:0] from_memory, sample_data;
  logic [32*DIGIT-1:0] data_t, data_complement;
  modmill_modular_choice choose_samples (
      .number(samples),
      .x(data),
      .y(from_memory)
  );
  for (genvar i = 0; i < 32; i++) begin : source
    assign sample_data[64*i+:64] = in_t ? 64'(data_t[DIGIT*i+:DIGIT]) : from_memory[64*i+:64];
  end

  // Lanes: rotated by the group that was read in the cycle before.
  logic [4:0] turned;
  logic [2047:0] lanes, words, other;
  logic [32*DIGIT-1:0] addend, lanes_addend;
  always_ff @(posedge clk) turned <= read_group;
  modmill_modular_rotate rotate (
      .amount(turned),
      .x(sample_data),
      .y(lanes)
  );
  assign addend = (pass == 3'd3) ? data_t : (pass == 3'd4) ? data_complement : '0;
  modmill_modular_rotate #(
      .WIDTH(DIGIT)
  ) rotate_addend (
      .amount(turned),
      .x(addend),
      .y(lanes_addend)
  );
  logic was_pass;
  always_ff @(posedge clk) begin
    was_pass <= read_pass || host_read;
    if (!busy || !stage) begin
      // Beyond the last row zeros follow: they bring the carry of the last digit out.
      for (int l = 0; l < 32; l++)
        words[64*l+:64] <= !was_pass ? 64'd0 : lanes[64*l+:64] + (busy ? 64'(lanes_addend[DIGIT*l+:DIGIT]) : 64'd0);
    end else if (cycle[1:0] == 2'd1) begin
      for (int l = 0; l < 32; l++) words[64*l+:64] <= (fresh && l >= 16) ? 64'd0 : lanes[64*l+:64];
    end
  end
  for (genvar l = 0; l < 32; l++) begin : result
    assign host_result[DIGIT*l+:DIGIT] = words[64*l+:DIGIT];
  end

  // Stages.
  logic [2047:0] results;
  logic [7:0] at_factor;
  assign at_factor = cycle - 8'd12;
  logic [2047:0] factor_data;
  modmill_modular_choice choose_factor (
      .number(factor),
      .x(data),
      .y(factor_data)
  );
  modmill_modular_rotate rotate_other (
      .amount(at_factor[6:2]),
      .x(factor_data),
      .y(other)
  );
  modmill_modular_transform #(
      .EMBEDDED(EMBEDDED),
      .TABLE(TABLE)
  ) butterflies (
      .clk,
      .cycle,
      .down,
      .inverse,
      .operand,
      .square(factor == 2'd0),
      .words,
      .other,
      .results
  );

  // Passes: row r is in `words` in cycle r + 2 and its digits leave the resolver in cycle r + 5.
  logic [32*DIGIT-1:0] digits;
  modmill_modular_resolver #(
      .DIGIT(DIGIT)
  ) resolver (
      .clk,
      .first_z(cycle == 8'd2),
      .first_y(cycle == 8'd3),
      .first_c(cycle == 8'd4),
      .values(words),
      .digits
  );
  logic write_pass, write_x_pass, write_t;
  logic [7:0] row;
  assign row = cycle - 8'd5;
  assign write_pass = busy && !stage && cycle >= 8'd5 && row < ((pass == 3'd4) ? 8'd16 : 8'd32);
  // T mod R, U mod R, W, and (T + W) / R.
  assign write_x_pass = write_pass && ((pass <= 3'd1 && !row[4]) || pass == 3'd2 || (pass == 3'd3 && row[4]));
  assign write_t = write_pass && (pass == 3'd0 || pass == 3'd4);

  // The digit above the sum, and then above its sum with R - M: the result is not below M if either is there.
  logic above;
  always_ff @(posedge clk) begin
    if (busy && !stage && pass == 3'd3 && cycle == 8'd37) above <= digits[0];
    if (busy && !stage && pass == 3'd4 && cycle == 8'd21) result_in_t <= above || digits[0];
    if (!busy && host_write && host_memory == 3'd0) result_in_t <= 1'b0;
  end

  // Writes.
  logic write_stage, write_host;
  logic [7:0] at_write;
  assign at_write = cycle - 8'd25;
  assign write_stage = busy && stage && cycle >= 8'd25 && at_write[1:0] == 2'd0;
  assign write_host = !busy && host_write;
  logic [4:0] write_group;
  assign write_group = write_stage ? at_write[6:2] : write_host ? {1'b0, host_row} : (pass == 3'd3) ? {1'b0, row[3:0]} : row[4:0];
  logic [2047:0] outgoing, written;
  logic [32*DIGIT-1:0] outgoing_digits, written_digits;
  assign outgoing_digits = busy ? digits : host_digits;
  for (genvar l = 0; l < 32; l++) begin : leaving
    assign outgoing[64*l+:64] = write_stage ? results[64*l+:64] : 64'(outgoing_digits[DIGIT*l+:DIGIT]);
  end
  modmill_modular_rotate rotate_written (
      .amount(5'd0 - write_group),
      .x(outgoing),
      .y(written)
  );
  modmill_modular_rotate #(
      .WIDTH(DIGIT)
  ) rotate_digits (
      .amount(5'd0 - write_group),
      .x(outgoing_digits),
      .y(written_digits)
  );

  for (genvar i = 0; i < 4; i++) begin : memories
    localparam integer NUMBER = i;
    logic other_read;
    logic [2047:0] bank_data;
    assign data[2048*NUMBER+:2048] = bank_data;
    assign other_read = read_other && factor == 2'(NUMBER) && NUMBER > 0;
    modmill_modular_memory words_of (
        .clk,
        .read_enable(other_read || (read_stage && samples == 2'(NUMBER)) || (NUMBER == 0 && (read_pass || host_read))),
        .read_down(read_stage && down),
        .read_group(other_read ? at_other[6:2] : read_group),
        .read_data(bank_data),
        .write_enable((write_stage && samples == 2'(NUMBER)) || (NUMBER == 0 && write_x_pass) || (write_host && host_memory == 3'(NUMBER))),
        .write_down(write_stage && down),
        .write_group,
        .write_data(written)
    );
  end
  modmill_modular_memory #(
      .WIDTH(DIGIT)
  ) t (
      .clk,
      .read_enable(read_stage || read_pass || host_read),
      .read_down(read_stage && down),
      .read_group,
      .read_data(data_t),
      .write_enable(write_t),
      .write_down(1'b0),
      .write_group(row[4:0]),
      .write_data(written_digits)
  );
  modmill_modular_memory #(
      .WIDTH(DIGIT)
  ) complement (
      .clk,
      .read_enable(read_pass),
      .read_down(1'b0),
      .read_group,
      .read_data(data_complement),
      .write_enable(write_host && host_memory == 3'd4),
      .write_down(1'b0),
      .write_group,
      .write_data(written_digits)
  );
endmodule
