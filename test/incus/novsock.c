/*
 * novsock PROGRAM...: runs an Incus daemon where the kernel has no vhost-vsock or we may not raise limits, for tests alone.
 *
 * The daemon asks for three things that such a host refuses: a context id for its machine (an ioctl on /dev/vhost-vsock), locked
 * memory (setrlimit), and a vsock to listen on as the host. The first two are answered with success, the third is bound to any
 * context instead. Nothing of the daemon is changed; what is lost is its agent in guests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/vm_sockets.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define SET_GUEST_CID 0x4008af60u
#define RESOURCE_MEMLOCK 8
#define OF_A_THREAD 0x80 /* PIDFD_THREAD */

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

static struct sock_filter rules[] = {
  FIELD(nr), UNLESS(SYS_ioctl, 3), FIELD(args[1]), UNLESS(SET_GUEST_CID, 9), ANSWER(SECCOMP_RET_ERRNO | 0),
  UNLESS(SYS_setrlimit, 3), FIELD(args[0]), UNLESS(RESOURCE_MEMLOCK, 5), ANSWER(SECCOMP_RET_ERRNO | 0),
  UNLESS(SYS_bind, 3), FIELD(args[2]), UNLESS(sizeof(struct sockaddr_vm), 1), ANSWER(SECCOMP_RET_USER_NOTIF),
  ANSWER(SECCOMP_RET_ALLOW),
};

/* Binds the caller's own socket for it. The thread that asks may not be the first of its process. */
static int bind_to_any(pid_t thread, int descriptor, struct sockaddr_vm *address) {
  int process = syscall(SYS_pidfd_open, thread, OF_A_THREAD);
  int socket = syscall(SYS_pidfd_getfd, process, descriptor, 0);
  address->svm_cid = VMADDR_CID_ANY;
  int error = socket < 0 || bind(socket, (struct sockaddr *)address, sizeof *address) ? -errno : 0;
  if (socket >= 0) close(socket);
  if (process >= 0) close(process);
  return error;
}

static void answer(int listener) {
  struct seccomp_notif asked = {0};
  struct seccomp_notif_resp answered = {0};
  struct sockaddr_vm address;
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked)) return;
  answered.id = asked.id;
  answered.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  struct iovec here = {&address, sizeof address}, there = {(void *)asked.data.args[1], sizeof address};
  if (process_vm_readv(asked.pid, &here, 1, &there, 1, 0) == sizeof address && address.svm_family == AF_VSOCK &&
      address.svm_cid == VMADDR_CID_HOST) {
    answered.flags = 0;
    answered.error = bind_to_any(asked.pid, asked.data.args[0], &address);
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answered);
}

int main(int count, char **argv) {
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  int told[2], taken[2], listener;
  char byte = 0;
  if (count < 2 || pipe(told) || pipe(taken)) return 1;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) return perror("seccomp"), 1;
    if (write(told[1], &listener, sizeof listener) < 0 || read(taken[0], &byte, 1) < 1) return 1;
    close(listener);
    execvp(argv[1], argv + 1);
    return perror(argv[1]), 1;
  }
  if (read(told[0], &listener, sizeof listener) != sizeof listener) return 1;
  listener = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, child, 0), listener, 0);
  if (listener < 0 || write(taken[1], &byte, 1) < 1) return perror("novsock"), 1;
  int status;
  while (waitpid(child, &status, WNOHANG) != child) answer(listener);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
