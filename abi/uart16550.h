/* SPDX-License-Identifier: Apache-2.0 */
/* ns16550a UART, one byte a register. */
#ifndef FABRICVP_ABI_UART16550_H
#define FABRICVP_ABI_UART16550_H

#include "abi/registers.h"

/* clang-format off */
#define UART_REGISTERS(R)                                                                   \
    R(UART_RBR, 0, 1, 1, 1) /* read: receiver buffer; write: transmitter holding (THR) */   \
    R(UART_IER, 1, 1, 1, 1)                                                                 \
    R(UART_IIR, 2, 1, 1, 1) /* read: interrupt identification; write: FIFO control (FCR) */ \
    R(UART_LCR, 3, 1, 1, 1)                                                                 \
    R(UART_MCR, 4, 1, 1, 1)                                                                 \
    R(UART_LSR, 5, 1, 1, 1)                                                                 \
    R(UART_MSR, 6, 1, 1, 1)                                                                 \
    R(UART_SCR, 7, 1, 1, 1)
/* clang-format on */

enum { UART_REGISTERS(ABI_OFFSET) };
/* Other names of the same offsets; DLL and DLM while LCR.DLAB is set. */
enum { UART_THR = 0, UART_FCR = 2, UART_DLL = 0, UART_DLM = 1 };

enum { UART_IER_ERBFI = 0x01, UART_IER_ETBEI = 0x02, UART_IER_ELSI = 0x04, UART_IER_EDSSI = 0x08 };
enum {
    UART_IIR_NONE = 0x01,
    UART_IIR_MODEM = 0x00,
    UART_IIR_THRE = 0x02,
    UART_IIR_RECEIVED = 0x04,
    UART_IIR_LINE = 0x06,
    UART_IIR_TIMEOUT = 0x0c,
    UART_IIR_ID = 0x0f,
    UART_IIR_FIFOS = 0xc0
};
enum {
    UART_FCR_ENABLE = 0x01,
    UART_FCR_RECEIVER_RESET = 0x02,
    UART_FCR_TRANSMITTER_RESET = 0x04,
    UART_FCR_TRIGGER = 0xc0
};
enum {
    UART_LCR_WORD_8 = 0x03,
    UART_LCR_STOP = 0x04,
    UART_LCR_PARITY = 0x08,
    UART_LCR_BREAK = 0x40,
    UART_LCR_DLAB = 0x80
};
enum { UART_MCR_DTR = 0x01, UART_MCR_RTS = 0x02, UART_MCR_OUT1 = 0x04, UART_MCR_OUT2 = 0x08, UART_MCR_LOOP = 0x10 };
enum {
    UART_LSR_DR = 0x01,
    UART_LSR_OE = 0x02,
    UART_LSR_PE = 0x04,
    UART_LSR_FE = 0x08,
    UART_LSR_BI = 0x10,
    UART_LSR_THRE = 0x20,
    UART_LSR_TEMT = 0x40,
    UART_LSR_FIFO_ERROR = 0x80
};
enum {
    UART_MSR_DCTS = 0x01,
    UART_MSR_DDSR = 0x02,
    UART_MSR_TERI = 0x04,
    UART_MSR_DDCD = 0x08,
    UART_MSR_CTS = 0x10,
    UART_MSR_DSR = 0x20,
    UART_MSR_RI = 0x40,
    UART_MSR_DCD = 0x80
};
enum { UART_FIFO_DEPTH = 16 };

#endif
