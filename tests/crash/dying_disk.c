/* A disk that dies: preloaded before the C library, it counts every change that this process makes
   to files below one folder, and ends the process at the n-th as a kill or a power cut would.

   A power cut takes back what was not yet synced: written bytes and lengths until the file is
   synced, names until their folder is. Idle until dying_disk_begin. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum way { KILLED, TORN, ALL_LOST, PARTLY_LOST };
enum kind { WRITE, SYNC, CUT, NAME, KINDS };
enum what { DATA, LENGTH, MADE, GONE, MOVED };

enum { SECTOR = 512, EXIT_CODE = 77 };

struct file {
    dev_t device;
    ino_t inode;
    int descriptor; /* Our own, never closed: closing any would drop the process's locks. */
};

/* One change that is not synced yet, with what undoes it and what does it again. */
struct change {
    enum what what;
    int file;
    off_t offset, old_length, new_length;
    unsigned char *old, *new;
    size_t old_size, new_size;
    char *path, *to, *kept;
};

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_link)(const char *, const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_open)(const char *, int, ...);

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char folder[PATH_MAX], keep[PATH_MAX];
static long last, counted[KINDS], changed;
static long synced_at[1024];
static enum way way;
static unsigned long long chance;
static struct file files[256];
static int file_count, kept_count;
static struct change *changes;
static size_t change_count, change_room;

__attribute__((constructor)) static void find(void)
{
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_write = dlsym(RTLD_NEXT, "write");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_link = dlsym(RTLD_NEXT, "link");
    real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    real_open = dlsym(RTLD_NEXT, "open64");
}

/* Count from now on, and die at change `at` below `below` (0: never). `beside` is an empty folder
   on the same file system, for what a power cut brings back. */
void dying_disk_begin(const char *below, const char *beside, long at, int how, unsigned long seed)
{
    snprintf(folder, sizeof folder, "%s", below);
    snprintf(keep, sizeof keep, "%s", beside);
    last = at;
    way = how;
    chance = seed * 2862933555777941757ULL + 3037000493ULL;
}

long dying_disk_counted(int kind)
{
    return counted[kind];
}

/* The number of the n-th sync among all changes, from 0 on. */
long dying_disk_synced_at(long number)
{
    return synced_at[number];
}

static void require(int sound, const char *what)
{
    if (sound)
        return;
    fprintf(stderr, "dying_disk: %s: %s\n", what, strerror(errno));
    abort();
}

static int coin(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return chance & 1;
}

/* Which files count: those below the folder but for the shared memory of readers and writers,
   which no power cut leaves behind. */
static int is_below(const char *path)
{
    size_t length = strlen(folder), whole = strlen(path);
    if (!length || strncmp(path, folder, length) || (path[length] && path[length] != '/'))
        return 0;
    return whole < 4 || strcmp(path + whole - 4, "-shm");
}

static int is_parent(const char *path)
{
    const char *slash = strrchr(folder, '/');
    size_t length = slash ? (size_t)(slash - folder) : 0;
    return length && strlen(path) == length && !strncmp(path, folder, length);
}

static int path_of(int descriptor, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static int file_of(int descriptor)
{
    struct stat found;
    char link[64];
    require(!fstat(descriptor, &found), "stat");
    for (int number = 0; number < file_count; number++)
        if (files[number].inode == found.st_ino && files[number].device == found.st_dev)
            return number;
    require(file_count < 256, "too many files");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int own = real_open(link, O_RDWR | O_CLOEXEC);
    require(own >= 0, "open again");
    files[file_count] = (struct file){found.st_dev, found.st_ino, own};
    return file_count++;
}

static struct change *note(enum what what)
{
    if (change_count == change_room) {
        change_room = change_room ? 2 * change_room : 64;
        changes = realloc(changes, change_room * sizeof *changes);
        require(changes != NULL, "memory");
    }
    struct change *one = &changes[change_count++];
    *one = (struct change){.what = what, .file = -1};
    return one;
}

static off_t length_of(int descriptor)
{
    struct stat found;
    require(!fstat(descriptor, &found), "length");
    return found.st_size;
}

/* Remember the bytes that a change of [offset, offset + size) takes away. */
static void remember(struct change *one, int descriptor, off_t offset, size_t size)
{
    one->file = file_of(descriptor);
    int own = files[one->file].descriptor;
    one->offset = offset;
    one->old_length = length_of(own);
    off_t left = one->old_length > offset ? one->old_length - offset : 0;
    one->old_size = (off_t)size < left ? size : (size_t)left;
    one->old = malloc(one->old_size + 1);
    require(pread(own, one->old, one->old_size, offset) == (ssize_t)one->old_size, "read old");
}

static void note_data(int descriptor, const void *bytes, size_t size, off_t offset)
{
    struct change *one = note(DATA);
    remember(one, descriptor, offset, size);
    one->new = malloc(size + 1);
    memcpy(one->new, bytes, size);
    one->new_size = size;
}

static void note_length(int descriptor, off_t length)
{
    off_t now = length_of(descriptor);
    struct change *one = note(LENGTH);
    remember(one, descriptor, length, now > length ? (size_t)(now - length) : 0);
    one->new_length = length;
}

static char *kept_link(const char *path)
{
    char link[PATH_MAX + 32];
    snprintf(link, sizeof link, "%s/%d", keep, kept_count++);
    return real_link(path, link) ? NULL : strdup(link);
}

static void note_name(enum what what, const char *path, const char *to)
{
    struct change *one = note(what);
    one->path = strdup(path);
    one->to = to ? strdup(to) : NULL;
    if (what != MADE)
        one->kept = kept_link(what == MOVED ? to : path);
}

static void forget(size_t number)
{
    memmove(&changes[number], &changes[number + 1], (change_count - number - 1) * sizeof *changes);
    change_count--;
}

static int stands_in(const char *path, const char *where)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && strlen(where) == (size_t)(slash - path) && !strncmp(path, where, slash - path);
}

/* What a sync makes last: a file's bytes and length, or the names in a folder. */
static void settle(int descriptor, const char *path)
{
    struct stat found;
    require(!fstat(descriptor, &found), "stat");
    int is_folder = S_ISDIR(found.st_mode), number = is_folder ? -1 : file_of(descriptor);
    for (size_t place = change_count; place-- > 0;) {
        struct change *one = &changes[place];
        int of_names = stands_in(one->path, path) || stands_in(one->to, path);
        if (is_folder ? of_names : one->file == number)
            forget(place);
    }
}

static void undo_name(const struct change *one)
{
    char away[PATH_MAX + 32];
    switch (one->what) {
    case MADE:
        snprintf(away, sizeof away, "%s/%d", keep, kept_count++);
        real_rename(one->path, away);
        break;
    case GONE:
        real_rename(one->kept, one->path);
        break;
    default:
        real_rename(one->to, one->path);
        if (one->kept)
            real_rename(one->kept, one->to);
    }
}

static void undo(const struct change *one)
{
    if (one->what > LENGTH) {
        undo_name(one);
        return;
    }
    int own = files[one->file].descriptor;
    require(!real_ftruncate(own, one->old_length), "undo length");
    require(real_pwrite(own, one->old, one->old_size, one->offset) == (ssize_t)one->old_size,
            "undo");
}

/* Do a change again as far as it reached the disk: each sector of its own. */
static void redo_partly(const struct change *one)
{
    int own = files[one->file].descriptor;
    if (one->what == LENGTH && coin())
        require(!real_ftruncate(own, one->new_length), "redo length");
    size_t size;
    for (size_t from = 0; from < one->new_size; from += size) {
        size = SECTOR - (size_t)((one->offset + (off_t)from) % SECTOR);
        size = size < one->new_size - from ? size : one->new_size - from;
        if (coin())
            real_pwrite(own, one->new + from, size, one->offset + (off_t)from);
    }
}

static void lose(void)
{
    size_t names_kept = 0;
    if (way == PARTLY_LOST)
        while (names_kept < change_count && coin())
            names_kept++;
    for (size_t place = change_count; place-- > 0;)
        if (changes[place].what <= LENGTH || place >= names_kept)
            undo(&changes[place]);
    if (way == PARTLY_LOST)
        for (size_t place = 0; place < change_count; place++)
            if (changes[place].what <= LENGTH)
                redo_partly(&changes[place]);
}

static int counts(enum kind kind)
{
    changed++;
    if (kind == SYNC && counted[SYNC] < 1024)
        synced_at[counted[SYNC]] = changed;
    counted[kind]++;
    return last && changed >= last;
}

static void die(void)
{
    if (way >= ALL_LOST)
        lose();
    _exit(EXIT_CODE);
}

static ssize_t change_bytes(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (way >= ALL_LOST)
        note_data(descriptor, bytes, size, offset);
    if (counts(WRITE)) {
        if (way == TORN)
            real_pwrite(descriptor, bytes, size / 2, offset);
        die();
    }
    return real_pwrite(descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t offset)
{
    char path[PATH_MAX];
    if (!*folder || !path_of(descriptor, path) || !is_below(path))
        return real_pwrite(descriptor, bytes, size, offset);
    pthread_mutex_lock(&lock);
    ssize_t done = change_bytes(descriptor, bytes, size, offset);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    return pwrite64(descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    if (!*folder || !path_of(descriptor, path) || !is_below(path))
        return real_write(descriptor, bytes, size);
    int flags = fcntl(descriptor, F_GETFL);
    int whence = flags & O_APPEND ? SEEK_END : SEEK_CUR;
    pthread_mutex_lock(&lock);
    off_t offset = lseek(descriptor, 0, whence);
    ssize_t done = change_bytes(descriptor, bytes, size, offset);
    if (done > 0)
        lseek(descriptor, offset + done, SEEK_SET);
    pthread_mutex_unlock(&lock);
    return done;
}

static int sync_with(int (*real)(int), int descriptor)
{
    char path[PATH_MAX];
    if (!*folder || !path_of(descriptor, path) || !(is_below(path) || is_parent(path)))
        return real(descriptor);
    pthread_mutex_lock(&lock);
    if (counts(SYNC))
        die();
    int done = real(descriptor);
    if (!done)
        settle(descriptor, path);
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int descriptor)
{
    return sync_with(real_fsync, descriptor);
}

int fdatasync(int descriptor)
{
    return sync_with(real_fdatasync, descriptor);
}

int ftruncate64(int descriptor, off_t length)
{
    char path[PATH_MAX];
    if (!*folder || !path_of(descriptor, path) || !is_below(path))
        return real_ftruncate(descriptor, length);
    pthread_mutex_lock(&lock);
    if (way >= ALL_LOST)
        note_length(descriptor, length);
    if (counts(CUT))
        die();
    int done = real_ftruncate(descriptor, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int descriptor, off_t length)
{
    return ftruncate64(descriptor, length);
}

/* A change of names, which is noted before it is made and forgotten where it fails. */
static int change_names(enum what what, const char *path, const char *to, mode_t mode)
{
    pthread_mutex_lock(&lock);
    if (counts(NAME))
        die();
    if (way >= ALL_LOST)
        note_name(what, what == MADE && to ? to : path, what == MOVED ? to : NULL);
    int done = what == GONE    ? real_unlink(path)
               : what == MOVED ? real_rename(path, to)
               : to            ? real_link(path, to)
                               : real_mkdir(path, mode);
    if (done && way >= ALL_LOST)
        change_count--;
    pthread_mutex_unlock(&lock);
    return done;
}

int rename(const char *path, const char *to)
{
    return is_below(to) ? change_names(MOVED, path, to, 0) : real_rename(path, to);
}

int unlink(const char *path)
{
    int counts_here = is_below(path) && !access(path, F_OK);
    return counts_here ? change_names(GONE, path, NULL, 0) : real_unlink(path);
}

int link(const char *path, const char *to)
{
    return is_below(to) ? change_names(MADE, path, to, 0) : real_link(path, to);
}

int mkdir(const char *path, mode_t mode)
{
    int is_new = is_below(path) && access(path, F_OK);
    return is_new ? change_names(MADE, path, NULL, mode) : real_mkdir(path, mode);
}

static int open_counted(const char *path, int flags, mode_t mode)
{
    pthread_mutex_lock(&lock);
    int is_new = access(path, F_OK) != 0;
    if (is_new && counts(NAME))
        die();
    int descriptor = real_open(path, flags & ~O_TRUNC, mode);
    if (descriptor >= 0 && is_new && way >= ALL_LOST)
        note_name(MADE, path, NULL);
    if (descriptor >= 0 && flags & O_TRUNC && !is_new)
        ftruncate64(descriptor, 0);
    pthread_mutex_unlock(&lock);
    return descriptor;
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    if (*folder && is_below(path) && flags & (O_CREAT | O_TRUNC))
        return open_counted(path, flags, mode);
    return real_open(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    return open64(path, flags, mode);
}
