// Input buffer of one operand: an AXI4-Stream port of 16 digits a beat, N/32 beats, little end first.
//
// Digit n lies in bank (n_(S-1) + n_0) mod 16, row n div 16. A beat has one n_(S-1) and all n_0, so it is
// turned by n_(S-1). The first stage's group has all n_(S-1) below 8 and one n_0: its lane j lies in bank
// (j + n_0) mod 16. The buffer takes no more beats from the time that it is full until `release_buffer`. Its
// stream side never waits for the rest of the machine.
module modmill_input #(
    parameter integer STAGES = 4,
    parameter integer DIGIT  = 24
) (
    input  logic                  clk,
    input  logic                  aresetn,
    input  logic                  s_axis_tvalid,
    output logic                  s_axis_tready,
    input  logic [  16*DIGIT-1:0] s_axis_tdata,
    input  logic                  s_axis_tlast,
    output logic                  full,
    output logic                  framing_error,  // tlast was on another beat than the last; stays 1 until reset
    input  logic                  release_buffer,
    input  logic                  read_enable,
    input  logic [4*STAGES-1:0]   base,           // of the group whose digits are read
    output logic [  16*DIGIT-1:0] lanes           // two enabled cycles later; lanes 0 .. 7 count
);
  localparam integer ADDRESS = 4 * (STAGES - 1) - 1;  // N/32 rows

  logic [ADDRESS-1:0] beat;
  logic accepted, last;
  assign s_axis_tready = !full;
  assign accepted = s_axis_tvalid && s_axis_tready;
  assign last = &beat;

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      beat <= '0;
      full <= 1'b0;
      framing_error <= 1'b0;
    end else begin
      if (accepted) begin
        beat <= beat + 1'b1;
        if (last) full <= 1'b1;
        if (s_axis_tlast != last) framing_error <= 1'b1;
      end
      if (release_buffer) full <= 1'b0;
    end
  end

  // Beat w goes to row w of every bank; digit i of it to bank (n_(S-1) + i) mod 16.
  logic [3:0] top;
  logic [16*DIGIT-1:0] turned, data;
  logic [16*ADDRESS-1:0] read_rows, write_rows;
  logic [3:0] amount;
  assign top = {1'b0, beat[ADDRESS-1-:3]};
  modmill_rotate #(
      .WIDTH(DIGIT)
  ) turn_in (
      .amount(4'd0 - top),
      .x(s_axis_tdata),
      .y(turned)
  );

  // Lane j of the group is in row { j, n_(S-2), .., n_1 }.
  for (genvar bank = 0; bank < 16; bank++) begin : rows
    logic [3:0] lane;
    assign lane = 4'(bank) - base[3:0];
    assign read_rows[ADDRESS*bank+ADDRESS-3+:3] = lane[2:0];
    if (STAGES > 2) begin : others
      assign read_rows[ADDRESS*bank+:ADDRESS-3] = base[4+:ADDRESS-3];
    end
    assign write_rows[ADDRESS*bank+:ADDRESS] = beat;
  end

  modmill_memory #(
      .WIDTH  (DIGIT),
      .ADDRESS(ADDRESS)
  ) memory (
      .clk,
      .read_enable,
      .read_rows,
      .read_data(data),
      .write_enable(accepted),
      .write_rows,
      .write_data(turned)
  );

  logic [16*DIGIT-1:0] turned_out;
  modmill_rotate #(
      .WIDTH(DIGIT)
  ) turn_out (
      .amount,
      .x(data),
      .y(turned_out)
  );
  always_ff @(posedge clk) begin
    if (read_enable) begin
      amount <= base[3:0];
      lanes  <= turned_out;
    end
  end
endmodule
