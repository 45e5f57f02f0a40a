"""What /proc says of processes, which are given by their numbers or as what subprocess.Popen gives."""
import glob, os, pathlib, re


def read(process, name):
    return pathlib.Path(f'/proc/{getattr(process, "pid", process)}/{name}').read_text()


def kilobytes(process, key='VmRSS'):
    return int(re.search(rf'^{key}:\s+(\d+)', read(process, 'status'), re.M)[1])


def processor_seconds(process):
    fields = read(process, 'stat').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def wake_ups(process):
    """How often its threads have waited for something and gone on."""
    return sum(int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', pathlib.Path(path).read_text(), re.M)[1])
               for path in glob.glob(f'/proc/{process.pid}/task/*/status'))


def state_of(process):
    """The letter of its state (proc_pid_stat(5)): T is stopped; Z or none is ended."""
    try:
        return read(process, 'stat').rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return 'Z'


def threads(process):
    """Names of its threads, with what each waits for in the kernel."""
    paths = glob.glob(f'/proc/{process.pid}/task/*')
    return [[pathlib.Path(path, name).read_text().strip() for name in ('comm', 'wchan', 'syscall')] for path in paths]
