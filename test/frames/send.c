/*
 * send FRAME...: sends each frame, in hex, by the guest's network card as it stands there, whoever it says that it is from. For guests
 * of tests, which have no interpreter: without a C library it is small enough to be sent along with a command.
 */
#define PACKET_SOCKETS 17
#define RAW 3
#define ALL_PROTOCOLS 0x0300
#define INDEX_OF 0x8933 /* SIOCGIFINDEX */

enum { WRITE = 1, IOCTL = 16, SOCKET = 41, SENDTO = 44, EXIT = 60 };

static long ask(long number, long a, long b, long c, long d, long e, long f) {
  long answer;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return answer;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static int sendAll(int count, char **frames) {
  struct {
    char name[16];
    int index;
    char rest[20];
  } card = {"eth0", 0, ""};
  struct {
    unsigned short family, protocol;
    int index;
    char rest[12];
  } to = {PACKET_SOCKETS, 0, 0, ""};
  long line = ask(SOCKET, PACKET_SOCKETS, RAW, ALL_PROTOCOLS, 0, 0, 0);
  if (line < 0 || ask(IOCTL, line, INDEX_OF, (long)&card, 0, 0, 0) < 0) return 1;
  to.index = card.index;
  for (int nth = 1; nth < count; nth++) {
    unsigned char frame[1600];
    int length = 0;
    for (char *at = frames[nth]; at[0] && at[1] && length < 1600; at += 2)
      frame[length++] = (unsigned char)(digit(at[0]) << 4 | digit(at[1]));
    if (ask(SENDTO, line, (long)frame, length, 0, (long)&to, sizeof to) != length) return 2;
  }
  ask(WRITE, 1, (long)"sent\n", 5, 0, 0, 0);
  return 0;
}

__attribute__((used)) static void begin(long *stack) {
  ask(EXIT, sendAll((int)stack[0], (char **)(stack + 1)), 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
