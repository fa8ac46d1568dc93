#include "tests/distributed/ranks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

namespace argand::test {
namespace {

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(fd);
  return ntohs(address.sin_port);
}

std::vector<std::string> this_program(const std::string& test) {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return {std::string(path, static_cast<size_t>(n)), "--gtest_also_run_disabled_tests", "--gtest_filter=" + test,
          "--gtest_brief=1"};
}

pid_t start(std::vector<std::string> command, std::vector<std::string> variables) {
  std::vector<char*> arguments, environment;
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  for (char** v = environ; *v; ++v)
    if (std::string(*v).rfind("GTEST_", 0) != 0) environment.push_back(*v);  // shards are those of the parent
  for (std::string& v : variables) environment.push_back(v.data());
  environment.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execvpe(arguments[0], arguments.data(), environment.data());
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_processes(int size, const std::string& test) {
  const std::string port = std::to_string(free_port());
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank)
    children.push_back(start(this_program(test), {"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(size),
                                                  "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port}));
  int failed = 0;
  for (const pid_t child : children) failed += status_of(child) != 0;
  return failed;
}

int run_by_mpirun(int size, const std::string& test) {
  std::vector<std::string> command = {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(size)};
  for (std::string& part : this_program(test)) command.push_back(std::move(part));
  return status_of(start(command, {}));
}

}  // namespace argand::test
