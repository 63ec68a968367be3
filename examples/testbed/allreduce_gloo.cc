// An all-reduce by Gloo over TCP, as of gradients: the sum over all ranks of so many numbers, round
// after round, checked. Prints how long each round took. mpirun starts the ranks, which find each
// other by files and then use Gloo alone.
//
//   g++ -O2 examples/testbed/allreduce_gloo.cc -o allreduce-gloo -lgloo -lpthread
//   lightloom testbed run examples/testbed-gloo.toml
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::fprintf(stderr, "%s is not set: start the program by mpirun\n", name);
    std::exit(2);
  }
  return value;
}

void Wait(const std::shared_ptr<gloo::Context>& context) {
  gloo::BarrierOptions options(context);
  gloo::barrier(options);
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = std::stoi(Environment("OMPI_COMM_WORLD_RANK"));
  const int ranks = std::stoi(Environment("OMPI_COMM_WORLD_SIZE"));
  const size_t count = (argc > 1 ? std::stoul(argv[1]) : 1 << 20) / sizeof(float);
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 4;

  // A folder of this run, in which every rank leaves its address.
  const auto folder = std::filesystem::temp_directory_path() /
                      ("gloo-" + Environment("PMIX_NAMESPACE"));
  std::filesystem::create_directory(folder);
  gloo::rendezvous::FileStore store(folder.string());
  gloo::transport::tcp::attr link;
  link.iface = "eth0";
  auto device = gloo::transport::tcp::CreateDevice(link);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  Wait(context);
  if (rank == 0) std::filesystem::remove_all(folder);

  std::vector<float> own(count), sum(count);
  for (int round = 0; round < rounds; round++) {
    for (size_t at = 0; at < count; at++) own[at] = float((at + round) % 100 + rank);
    Wait(context);
    const auto begin = std::chrono::steady_clock::now();
    gloo::AllreduceOptions options(context);
    options.setInput(own.data(), count);
    options.setOutput(sum.data(), count);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    // Whole numbers below 2^24 have no rounding error.
    for (size_t at = 0; at < count; at++) {
      if (sum[at] != float((at + round) % 100 * ranks + ranks * (ranks - 1) / 2)) {
        std::fprintf(stderr, "rank %d: number %zu is wrong\n", rank, at);
        return 3;
      }
    }
    if (rank == 0) std::printf("round %d: %.1f ms\n", round, took.count());
  }
  Wait(context);
  return 0;
}
