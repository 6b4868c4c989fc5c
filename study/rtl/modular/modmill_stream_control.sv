// Packets of modmill_exponentiator_stream: header, rows of a number, waiting for the machine, rows of the
// result.
//
// A row of the result is read in one cycle, is at the memories' outputs in the next and in `m_axis_tdata` two
// cycles later, when `m_axis_tvalid` becomes 1. It stays until its reader takes it; only then the next row is
// read.
module modmill_stream_control (
    input  logic       clk,
    input  logic       aresetn,
    input  logic       s_axis_tvalid,
    output logic       s_axis_tready,
    input  logic       s_axis_tlast,
    input  logic       command,        // the header starts the machine; otherwise 16 rows follow
    input  logic       send,           // the header wants the result
    output logic       number,         // the beat is a row, not a header
    output logic [3:0] row,
    input  logic       busy,           // 1 from the cycle after a command until its end
    output logic       host_read,
    output logic       m_axis_tvalid,
    input  logic       m_axis_tready,
    output logic       framing_error
);
  localparam logic [2:0] HEADER = 3'd0, ROWS = 3'd1, RUN = 3'd2, READ = 3'd3, FETCH = 3'd4, TAKE = 3'd5, HOLD = 3'd6;
  logic [2:0] state;
  logic sends, taken, last;
  assign number = state == ROWS;
  assign s_axis_tready = state == HEADER || number;
  assign taken = s_axis_tvalid && s_axis_tready;
  assign last = number ? &row : command;
  assign host_read = state == READ;
  assign m_axis_tvalid = state == HOLD;

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      state <= HEADER;
      row <= 4'd0;
      framing_error <= 1'b0;
    end else begin
      case (state)
        HEADER: if (taken) state <= command ? RUN : ROWS;
        ROWS: if (taken && &row) state <= HEADER;
        RUN: if (!busy) state <= sends ? READ : HEADER;
        READ: state <= FETCH;
        FETCH: state <= TAKE;
        TAKE: state <= HOLD;
        default: if (m_axis_tready) state <= (&row) ? HEADER : READ;
      endcase
      if ((taken && number) || (m_axis_tvalid && m_axis_tready)) row <= row + 4'd1;
      if (taken && s_axis_tlast != last) framing_error <= 1'b1;
    end
    if (taken && !number) sends <= send;
  end
endmodule
