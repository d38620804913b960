#include "textflag.h"

// COMPARE sets each byte of block where both bytes of the pair stand, 16 places from SI+at on.
#define COMPARE(at, block, other) \
	MOVOU at(SI), block \
	MOVOU at(SI)(DX*1), other \
	POR X1, block \
	POR X3, other \
	PCMPEQB X0, block \
	PCMPEQB X2, other \
	PAND other, block

// SPREAD fills a register with the byte in AX.
#define SPREAD(register) \
	IMULL $0x01010101, AX \
	MOVD AX, register \
	PSHUFD $0, register, register

// func indexPairBlocks(text *byte, places, distance int, p pair) int
TEXT ·indexPairBlocks(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), DI
	MOVQ places+8(FP), CX
	MOVQ distance+16(FP), DX
	MOVBLZX p_a+24(FP), AX
	SPREAD(X0)
	MOVBLZX p_maskA+25(FP), AX
	SPREAD(X1)
	MOVBLZX p_b+26(FP), AX
	SPREAD(X2)
	MOVBLZX p_maskB+27(FP), AX
	SPREAD(X3)
	MOVQ DI, SI
	LEAQ (DI)(CX*1), R8 // behind the last place

four:
	LEAQ 64(SI), R9
	CMPQ R9, R8
	JA   one
	COMPARE(0, X4, X5)
	COMPARE(16, X6, X7)
	COMPARE(32, X8, X9)
	COMPARE(48, X10, X11)
	POR X6, X4
	POR X10, X8
	POR X8, X4
	PMOVMSKB X4, AX
	TESTL AX, AX
	JNZ  one
	MOVQ R9, SI
	JMP  four

one:
	LEAQ 16(SI), R9
	CMPQ R9, R8
	JA   last
	COMPARE(0, X4, X5)
	PMOVMSKB X4, AX
	TESTL AX, AX
	JNZ  found
	MOVQ R9, SI
	JMP  one

last:
	CMPQ SI, R8
	JEQ  none
	LEAQ -16(R8), SI // what of it was compared before has no pair
	COMPARE(0, X4, X5)
	PMOVMSKB X4, AX
	TESTL AX, AX
	JNZ  found

none:
	MOVQ $-1, ret+32(FP)
	RET

found:
	BSFL AX, AX
	SUBQ DI, SI
	ADDQ SI, AX
	MOVQ AX, ret+32(FP)
	RET
