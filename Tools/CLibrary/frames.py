"""The stack frames of a library's functions, read from the first instructions of each.

  python3 Tools/CLibrary/frames.py OBJDUMP FILE [LEAST]     those of LEAST octets and more, greatest first"""
import re, subprocess, sys

# x86_64, AArch64, ARM and RISC-V.
SUBTRACTED = re.compile(r'\bsub\s+\$(0x[0-9a-f]+),%rsp|\bsub(?:\.w|w)?\s+sp,\s*(?:sp,\s*)?#(0x[0-9a-f]+|\d+)(, lsl #12)?'
                        r'|\baddi?\s+sp,sp,-(\d+)')
PUSHED = re.compile(r'\bstp\s.*\[sp, #-(\d+)\]!')


def frames(objdump, path):
    """{name: octets}"""
    found, name = {}, None
    with subprocess.Popen([objdump, '-d', '--no-show-raw-insn', path], stdout=subprocess.PIPE, text=True,
                          errors='replace') as process:
        for line in process.stdout:
            if m := re.match(r'[0-9a-f]+ <(.*)>:', line):
                name = m[1]
                found.setdefault(name, 0)
            elif name and (m := SUBTRACTED.search(line)):
                found[name] += int(m[1] or m[2] or m[4], 0) << (12 if m[3] else 0)
            elif name and (m := PUSHED.search(line)):
                found[name] += int(m[1])
    return found


def greatest(objdump, path, least):
    return sorted(((size, name) for name, size in frames(objdump, path).items() if size >= least), reverse=True)


if __name__ == '__main__':
    for size, name in greatest(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 1024):
        print(size, name)
