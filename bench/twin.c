/* The search of gamekit written in C, as fast as plain C gets: the yardstick of the benchmark.

   One file for all games: GAME picks the rules, the sizes are constants, rules and evaluation are inlined
   into the search. Records have the layout of gamekit's, so a position is handed over as its bytes. The
   logic is the same step by step: the same bits, the same mirrored board, the same order of moves, a copy
   of the parent for every child, and so the same nodes and values.

       gcc -O3 -march=native -shared -fPIC -DGAME=CONGA -o conga.so twin.c                                */

#include <math.h>
#include <stdint.h>

#define K_IN_A_ROW 1 /* with ROWS, COLS, K, GRAVITY, and EVALUATE for the evaluation */
#define CANDY 2      /* with ROWS, COLS */
#define CONGA 3

#define CENTRE 1    /* stones, weighted by column, read from the board */
#define BITS 2      /* pairs of like neighbours in all directions, counted on bits */
#define PAIRS 3     /* pairs of like neighbours to the right and below, read from the board */
#define ROWS_OF_K 4 /* stones in rows of K that the other player does not touch */

enum { RUNNING, WON, DRAW, LOST };
#define WIN 1e12

/* ------------------------------------------------------------------------------------------- rules */

#if GAME == K_IN_A_ROW

#define WIDTH (ROWS * COLS)
#define SMALL (COLS * (ROWS + 1) <= 64)

typedef struct {
    int32_t turn;
    uint8_t rows, cols, k, gravity;
    uint64_t stones[2];
    int32_t filled, small;
    uint8_t height[32];
    int8_t cells[ROWS * COLS];
} Position;

static inline int list_moves(const Position *p, int32_t *out) {
    int count = 0;
    for (int cell = 0; cell < (GRAVITY ? COLS : ROWS * COLS); cell++)
        if (p->cells[cell] == 0) out[count++] = cell;
    return count;
}

static inline int runs(uint64_t stones, int step) {
    int length = 1;
    for (; 2 * length <= K; length *= 2) stones &= stones >> (length * step);
    if (length < K) stones &= stones >> ((K - length) * step);
    return stones != 0;
}

static inline int has_line(uint64_t stones) {
    return runs(stones, 1) || runs(stones, ROWS) || runs(stones, ROWS + 1) || runs(stones, ROWS + 2);
}

static inline int in_line(const Position *p, int row, int col, int me) {
    static const int step[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (int d = 0; d < 4; d++) {
        int length = 1;
        for (int sign = -1; sign <= 1; sign += 2) {
            int down = sign * step[d][0], right = sign * step[d][1], r = row + down, c = col + right;
            for (; r >= 0 && r < ROWS && c >= 0 && c < COLS && p->cells[r * COLS + c] == me; r += down, c += right)
                length++;
        }
        if (length >= K) return 1;
    }
    return 0;
}

static inline int play(Position *p, int move) {
    int me = p->turn, row, col;
    if (GRAVITY) {
        col = move;
        row = ROWS - 1 - p->height[col]++;
    } else {
        row = move / COLS;
        col = move - row * COLS;
    }
    p->cells[row * COLS + col] = me;
    p->filled++;
    p->turn = 3 - me;
    int won;
    if (SMALL) {
        p->stones[me - 1] |= 1ull << (col * (ROWS + 1) + ROWS - 1 - row);
        won = has_line(p->stones[me - 1]);
    } else {
        won = in_line(p, row, col, me);
    }
    return won ? WON : p->filled == ROWS * COLS ? DRAW : RUNNING;
}

static inline double evaluate(const Position *p, int me, const double *weight) {
#if EVALUATE == CENTRE
    double value = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            int owner = p->cells[r * COLS + c];
            if (owner == me) value += weight[c];
            else if (owner) value -= weight[c];
        }
    return value;
#elif EVALUATE == BITS
    uint64_t mine = p->stones[me - 1], theirs = p->stones[2 - me];
    int pairs = 0;
    for (int step = ROWS; step <= ROWS + 2; step++)
        pairs += __builtin_popcountll(mine & mine >> step) - __builtin_popcountll(theirs & theirs >> step);
    pairs += __builtin_popcountll(mine & mine >> 1) - __builtin_popcountll(theirs & theirs >> 1);
    return weight[0] * pairs;
#elif EVALUATE == PAIRS
    int value = 0;
    (void)weight;
    for (int r = 0; r < ROWS - 1; r++)
        for (int c = 0; c < COLS - 1; c++) {
            int owner = p->cells[r * COLS + c], pairs = 0;
            if (owner == 0) continue;
            if (p->cells[r * COLS + c + 1] == owner) pairs++;
            if (p->cells[(r + 1) * COLS + c] == owner) pairs++;
            value += owner == me ? pairs : -pairs;
        }
    return value;
#elif EVALUATE == ROWS_OF_K
    double value = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c <= COLS - K; c++) {
            int mine = 0, theirs = 0;
            for (int i = 0; i < K; i++) {
                int owner = p->cells[r * COLS + c + i];
                if (owner == me) mine++;
                else if (owner) theirs++;
            }
            if (theirs == 0) value += weight[mine];
            else if (mine == 0) value -= weight[theirs];
        }
    return value;
#endif
}

#elif GAME == CANDY

#define WIDTH (ROWS * COLS)

typedef struct {
    int32_t turn;
    uint8_t rows, cols, filled, count;
    uint64_t owned[2], inside, not_first, not_last;
    int32_t total[2];
    struct { int8_t owner, value; } cells[ROWS * COLS];
} Position;

static inline int list_moves(const Position *p, int32_t *out) {
    int count = 0;
    for (uint64_t free = p->inside & ~(p->owned[0] | p->owned[1]); free; free &= free - 1)
        out[count++] = __builtin_ctzll(free);
    return count;
}

static inline uint64_t neighbours(const Position *p, uint64_t cells) {
    uint64_t beside = (cells & p->not_first) >> 1 | (cells & p->not_last) << 1;
    return (beside | cells >> COLS | cells << COLS) & p->inside;
}

static inline int play(Position *p, int move) {
    int me = p->turn - 1, them = 1 - me;
    uint64_t drop = 1ull << move, near = neighbours(p, drop), taken = near & p->owned[them];
    if (!(near & p->owned[me])) taken = 0;
    p->owned[me] |= drop | taken;
    p->owned[them] &= ~taken;
    p->cells[move].owner = me + 1;
    p->total[me] += p->cells[move].value;
    for (; taken; taken &= taken - 1) {
        int cell = __builtin_ctzll(taken);
        p->cells[cell].owner = me + 1;
        p->total[me] += p->cells[cell].value;
        p->total[them] -= p->cells[cell].value;
    }
    p->turn = them + 1;
    if (++p->filled < ROWS * COLS) return RUNNING;
    return p->total[me] == p->total[them] ? DRAW : p->total[me] > p->total[them] ? WON : LOST;
}

static inline double evaluate(const Position *p, int me, const double *weight) {
    int value = 0;
    (void)weight;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            int owner = p->cells[r * COLS + c].owner;
            if (owner == me) value += p->cells[r * COLS + c].value;
            else if (owner) value -= p->cells[r * COLS + c].value;
        }
    return value;
}

#elif GAME == CONGA

#define WIDTH 128

typedef struct {
    int32_t turn;
    uint32_t owned[2];
    struct { int8_t owner, stones; } board[4][4];
} Position;

static int8_t next[16][8];

__attribute__((constructor)) static void fill_next(void) {
    static const int step[8][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
    for (int cell = 0; cell < 16; cell++)
        for (int d = 0; d < 8; d++) {
            int r = cell / 4 + step[d][0], c = cell % 4 + step[d][1];
            next[cell][d] = r >= 0 && r < 4 && c >= 0 && c < 4 ? 4 * r + c : -1;
        }
}

static inline int list_moves(const Position *p, int32_t *out) {
    int count = 0;
    uint32_t theirs = p->owned[2 - p->turn];
    for (uint32_t mine = p->owned[p->turn - 1]; mine; mine &= mine - 1) {
        int cell = __builtin_ctz(mine);
        for (int d = 0; d < 8; d++) {
            int to = next[cell][d];
            if (to >= 0 && !(theirs >> to & 1)) out[count++] = cell * 8 + d;
        }
    }
    return count;
}

static inline uint32_t neighbours(uint32_t cells) {
    uint32_t beside = (cells & ~0x1111u) >> 1 | (cells & ~0x8888u) << 1, row = cells | beside;
    return beside | row >> 4 | (row << 4 & 0xFFFF);
}

static inline int play(Position *p, int move) {
    int me = p->turn, cell = move >> 3, d = move & 7;
    uint32_t theirs = p->owned[2 - me];
    int stones = p->board[cell >> 2][cell & 3].stones;
    p->board[cell >> 2][cell & 3].owner = 0;
    p->board[cell >> 2][cell & 3].stones = 0;
    p->owned[me - 1] &= ~(1u << cell);
    static const int shares[3] = {1, 2, 10};
    for (int i = 0; i < 3; i++) {
        cell = next[cell][d];
        int beyond = next[cell][d], share = shares[i];
        if (stones <= share || beyond < 0 || theirs >> beyond & 1) share = stones;
        p->board[cell >> 2][cell & 3].owner = me;
        p->board[cell >> 2][cell & 3].stones += share;
        p->owned[me - 1] |= 1u << cell;
        stones -= share;
        if (stones == 0) break;
    }
    p->turn = 3 - me;
    return neighbours(theirs) & ~p->owned[me - 1] ? RUNNING : WON;
}

static inline double evaluate(const Position *p, int me, const double *weight) {
    int value = 0;
    (void)weight;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            int owner = p->board[r][c].owner;
            if (owner == me) value += 1;
            else if (owner) value -= 1;
        }
    return value;
}

#endif

/* ------------------------------------------------------------------------------------------ search */

typedef struct {
    int me, depth, prune, move;
    const double *weight;
    int64_t generated, expanded, leaves, cutoffs;
} Search;

static double visit(Search *s, const Position *p, int ply, double alpha, double beta) {
    int32_t moves[WIDTH];
    int count = list_moves(p, moves), maximising = p->turn == s->me, child = ply + 1;
    double best = maximising ? -INFINITY : INFINITY;
    s->expanded++;
    for (int i = 0; i < count; i++) {
        Position q = *p;
        int status = play(&q, moves[i]);
        double value;
        s->generated++;
        if (status == RUNNING && child < s->depth) {
            value = visit(s, &q, child, alpha, beta);
        } else {
            s->leaves++;
            if (status == RUNNING) value = evaluate(&q, s->me, s->weight);
            else if (status == DRAW) value = 0;
            else value = (status == WON) == maximising ? WIN - child : child - WIN;
        }
        if (maximising ? value > best : value < best) {
            best = value;
            if (ply == 0) s->move = moves[i];
        }
        if (s->prune) {
            if (maximising) alpha = alpha > best ? alpha : best;
            else beta = beta < best ? beta : best;
            if (alpha >= beta) {
                s->cutoffs++;
                break;
            }
        }
    }
    return best;
}

/* Search a position; `counts` receives generated, expanded, leaves, cutoffs and the best move. */
double search(const Position *p, int depth, int prune, const double *weight, int64_t counts[5]) {
    Search s = {p->turn, depth, prune, -1, weight, 0, 0, 0, 0};
    double value = visit(&s, p, 0, -INFINITY, INFINITY);
    counts[0] = s.generated, counts[1] = s.expanded, counts[2] = s.leaves, counts[3] = s.cutoffs, counts[4] = s.move;
    return value;
}
