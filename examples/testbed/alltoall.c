/* All-to-all by MPI, checked byte for byte: rank r sends every other rank so many bytes, round
 * after round. Prints how long each round took.
 *
 *   mpicc -O2 examples/testbed/alltoall.c -o alltoall
 *   lightloom testbed run examples/testbed-mpi.toml
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char filling(int from, int to, int round)
{
	return (char)(from * 31 + to * 7 + round);
}

int main(int argc, char **argv)
{
	int rank, ranks;
	int bytes = argc > 1 ? atoi(argv[1]) : 262144;
	int rounds = argc > 2 ? atoi(argv[2]) : 4;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	char *out = malloc((size_t)bytes * ranks), *in = malloc((size_t)bytes * ranks);
	for (int round = 0; round < rounds; round++) {
		for (int to = 0; to < ranks; to++)
			memset(out + (size_t)to * bytes, filling(rank, to, round), bytes);
		MPI_Barrier(MPI_COMM_WORLD);
		double begin = MPI_Wtime();
		MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
		double took = MPI_Wtime() - begin;
		for (int from = 0; from < ranks; from++)
			for (int at = 0; at < bytes; at++)
				if (in[(size_t)from * bytes + at] != filling(from, rank, round))
					MPI_Abort(MPI_COMM_WORLD, 3);
		if (rank == 0)
			printf("round %d: %.1f ms\n", round, took * 1e3);
	}
	MPI_Finalize();
	return 0;
}
