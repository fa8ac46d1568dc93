#include "argand/parallel/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "argand/parallel/backends.h"
#include "argand/parallel/default_group.h"
#include "argand/parallel/store/tcp_store.h"

namespace argand::parallel {
namespace {

// The variables of a launcher, and none of another one, for a scope.
class Variables {
 public:
  explicit Variables(const std::map<std::string, std::string>& values) {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_PROCID",
                             "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_NODELIST", "SLURM_JOB_ID",
                             "SLURM_STEP_ID", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      names_.push_back(name);
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

std::string error_of(const std::map<std::string, std::string>& values) {
  const Variables variables(values);
  try {
    find_launch();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Launch, NoLauncher) {
  const Variables none({});
  EXPECT_FALSE(find_launch());
  EXPECT_THROW(init_process_group(), ValueError);
}

TEST(Launch, Torchrun) {
  const Variables variables({{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "1"},
                             {"MASTER_ADDR", "a"},
                             {"MASTER_PORT", "29500"},
                             {"OMPI_COMM_WORLD_SIZE", "9"},
                             {"SLURM_STEP_NUM_TASKS", "9"}});
  const Launch launch = find_launch().value();
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.store_host, "a");
  EXPECT_EQ(launch.store_port, 29500);
}

TEST(Launch, Mpirun) {
  if (const std::string why = why_no_backend("gloo"); !why.empty()) GTEST_SKIP() << why;
  const std::map<std::string, std::string> mpi = {
      {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  {
    const Variables variables(mpi);
    const Launch launch = find_launch().value();
    EXPECT_EQ(launch.launcher, "mpirun");
    EXPECT_EQ(launch.rank, 1);
    EXPECT_EQ(launch.size, 2);
    EXPECT_EQ(launch.local_rank, 1);
    EXPECT_EQ(launch.store_host, "");
    try {
      init_process_group(launch, "gloo");
      ADD_FAILURE() << "no error";
    } catch (const ValueError& e) {
      EXPECT_STREQ(e.what(),
                   "init_process_group: backend 'gloo' needs MASTER_ADDR and MASTER_PORT, which mpirun does not set");
    }
  }
  auto with_store = mpi;
  with_store["MASTER_ADDR"] = "h";
  with_store["MASTER_PORT"] = "7";
  const Variables variables(with_store);
  EXPECT_EQ(find_launch()->store_host, "h");
  EXPECT_EQ(find_launch()->store_port, 7);
}

TEST(Launch, Srun) {
  const auto host_of = [](const std::string& nodes) {
    const Variables variables({{"SLURM_PROCID", "5"},
                               {"SLURM_STEP_NUM_TASKS", "8"},
                               {"SLURM_LOCALID", "1"},
                               {"SLURM_STEP_NODELIST", nodes},
                               {"SLURM_JOB_ID", "1234"},
                               {"SLURM_STEP_ID", "2"}});
    const Launch launch = find_launch().value();
    EXPECT_EQ(launch.launcher, "srun");
    EXPECT_EQ(launch.rank, 5);
    EXPECT_EQ(launch.size, 8);
    EXPECT_EQ(launch.local_rank, 1);
    EXPECT_EQ(launch.store_port, 15000 + (1234 * 16 + 2) % 15000);
    return launch.store_host;
  };
  EXPECT_EQ(host_of("n1"), "n1");
  EXPECT_EQ(host_of("n1,n2"), "n1");
  EXPECT_EQ(host_of("n1,m[2-3]"), "n1");
  EXPECT_EQ(host_of("n[07-12,15],m"), "n07");
  EXPECT_EQ(host_of("n[3,5]-ib.site,m"), "n3-ib.site");
  // A batch script is no task of a step.
  const Variables batch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}});
  EXPECT_FALSE(find_launch());
}

TEST(Launch, VariablesThatDoNotFit) {
  EXPECT_EQ(error_of({{"RANK", "0"}}),
            "environment variable WORLD_SIZE expected, but not set: other variables say that torchrun started this "
            "process");
  EXPECT_EQ(error_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
            "environment variable MASTER_ADDR expected, but not set: other variables say that torchrun started this "
            "process");
  EXPECT_EQ(error_of({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
            "environment variable RANK: expected an integer from 0 to 1, got 2");
  EXPECT_EQ(error_of({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "x"}}),
            "environment variable OMPI_COMM_WORLD_RANK: expected an integer, got \"x\"");
  EXPECT_EQ(error_of({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NODELIST", "n[1"}}),
            "SLURM_STEP_NODELIST: expected a list of hosts, got 'n[1'");
  EXPECT_EQ(error_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "no error");  // alone it needs no store
}

TEST(Launch, TheStoreOfAnAgentIsUsedBelowTheAttempt) {
  TCPStoreOptions options;
  options.is_server = true;
  options.port = 0;
  TCPStore agent("127.0.0.1", options);
  const Variables variables({{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RESTART_COUNT", "2"}});
  const auto store = store_of_launch("127.0.0.1", agent.port(), 0, 2, std::chrono::seconds(5));
  store->set("key", Store::Value{'v'});
  EXPECT_TRUE(agent.check({"/worker/attempt_2/key"}));
}

TEST(Launch, BackendsByNames) {
  const auto names = [](const std::string& text) {
    const BackendNames n = backends_of(text);
    return n.host + "|" + n.device;
  };
  EXPECT_EQ(names(""), "|");
  EXPECT_EQ(names("gloo"), "gloo|");
  EXPECT_EQ(names("mpi"), "mpi|");
  EXPECT_EQ(names("nccl"), "|nccl");
  EXPECT_EQ(names("cpu:gloo,cuda:nccl"), "gloo|nccl");
  EXPECT_EQ(names("cuda:nccl,cpu:mpi"), "mpi|nccl");
  EXPECT_EQ(names("cpu:gloo,cuda:gloo"), "gloo|");
}

TEST(Launch, ABackendThatIsNotHere) {
  if (const std::string why = why_no_backend("gloo"); !why.empty()) GTEST_SKIP() << why;
  const Variables variables({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}});
  for (const std::string name : {"ucc", "nccl"}) {
    if (why_no_backend(name).empty()) continue;
    try {
      init_process_group(name);
      ADD_FAILURE() << "no error";
    } catch (const NotImplementedError& e) {
      EXPECT_EQ(e.what(), "init_process_group: " + why_no_backend(name));
    }
  }
}

TEST(Launch, OneProcessIsAGroup) {
  const Variables variables({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_EQ(init_process_group()->size(), 1);
  EXPECT_EQ(default_process_group()->rank(), 0);
  destroy_process_group();
  EXPECT_FALSE(is_initialized());
}

}  // namespace
}  // namespace argand::parallel
