import Glibc
import Synchronization

/// The mode of the terminal for a program that draws, or edits a line, and takes each key as it is pressed.
///
/// There is one terminal, and it is given back as it was also when a second signal ends the program at once.
enum TerminalMode {
    private struct State {
        var saved: termios?
        /// The mode in which keys are taken.
        var raw: termios?
        var isOnScreen = false
        /// Whether the program was stopped, or is about to be.
        var isSuspended = false
        var changed: (@Sendable () -> Void)?
        var isPaused = false
    }

    /// An object with the state, because a static `Mutex` must not: with `-O`, Swift 6.3.1 gives a static or
    /// global `Mutex` wrong first octets if its value contains a structure with a tuple, such as `termios`. Here
    /// `saved` was then not `nil`, and neither `begin` nor `end` did what it should. `Tools/Checks/mutexes` keeps this
    /// out of all sources.
    private final class Holder: Sendable {
        let state = Mutex(State())
    }

    private static let holder = Holder()

    /// Whether keys can be read and answers be seen: both sides are a terminal that moves its cursor.
    static var isPossible: Bool {
        guard isatty(0) == 1, isatty(1) == 1 else { return false }
        guard let name = unsafe getenv("TERM") else { return false }
        return unsafe String(cString: name) != "dumb"
    }

    /// Whether the terminal shows more than ASCII, by the locale.
    static var showsUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            let text = unsafe String(cString: value).lowercased()
            return text.contains("utf-8") || text.contains("utf8")
        }
        return false
    }

    /// Columns and rows of the terminal.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The columns of the terminal behind a descriptor; `nil` if it does not say.
    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    /// Takes single keys from now on, unseen.
    /// - Parameters:
    ///   - takesControlC: whether ^C is a key; else it is the signal that it was.
    ///   - screen: whether to draw on the terminal's alternate screen, which is gone afterwards.
    ///   - changed: called when the terminal has another size, or no longer shows what was drawn.
    static func begin(takesControlC: Bool, screen: Bool, changed: (@Sendable () -> Void)? = nil) {
        holder.state.withLock { state in
            guard state.saved == nil else { return }
            var mode = termios()
            guard unsafe tcgetattr(0, &mode) == 0 else { return }
            state.saved = mode
            mode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
            mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
            if takesControlC { mode.c_lflag &= ~tcflag_t(ISIG) }
            unsafe withUnsafeMutableBytes(of: &mode.c_cc) { keys in
                unsafe keys[Int(VMIN)] = 1
                unsafe keys[Int(VTIME)] = 0
            }
            unsafe tcsetattr(0, TCSANOW, &mode)
            state.raw = mode
            state.changed = changed
            guard screen else { return }
            state.isOnScreen = true
            write(enterScreen)
        }
    }

    /// The alternate screen, without a cursor; a line that is wider than it was thought to be ends at the edge.
    private static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leaveScreen = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Gives the terminal back as it was, because the program is about to be stopped.
    static func suspend() {
        holder.state.withLock { state in
            guard var saved = state.saved, !state.isSuspended else { return }
            state.isSuspended = true
            if state.isOnScreen { write(leaveScreen) }
            unsafe tcsetattr(0, TCSANOW, &saved)
        }
    }

    /// Takes the terminal again, because the program goes on.
    static func resume() {
        let changed = holder.state.withLock { state -> (@Sendable () -> Void)? in
            // Who has stopped it from outside has left no time to give the terminal back.
            guard state.saved != nil, var raw = state.raw else { return nil }
            state.isSuspended = false
            unsafe tcsetattr(0, TCSANOW, &raw)
            if state.isOnScreen { write(enterScreen) }
            return state.changed
        }
        changed?()
    }

    /// The terminal has another size.
    static func resized() { holder.state.withLock { $0.changed }?() }

    /// Whether what is drawn is seen.
    static var isOnScreen: Bool { holder.state.withLock { $0.isOnScreen && !$0.isSuspended } }

    /// Gives the terminal back as it was; a second time changes nothing.
    static func end() {
        holder.state.withLock { state in
            guard var saved = state.saved else { return }
            state.saved = nil
            state.changed = nil
            if state.isOnScreen, !state.isSuspended { write(leaveScreen) }
            (state.isOnScreen, state.isSuspended) = (false, false)
            unsafe tcsetattr(0, TCSANOW, &saved)
        }
    }

    /// Whether somebody else reads the terminal now.
    static var isPaused: Bool { holder.state.withLock { $0.isPaused } }

    /// Gives the terminal back as it was for as long as `body` reads a line from it.
    static func paused<Result>(_ body: () -> Result) -> Result {
        var raw = termios()
        let wasRaw = holder.state.withLock { state in
            guard var saved = state.saved, unsafe tcgetattr(0, &raw) == 0 else { return false }
            state.isPaused = true
            unsafe tcsetattr(0, TCSANOW, &saved)
            return true
        }
        defer {
            if wasRaw {
                holder.state.withLock { state in
                    state.isPaused = false
                    if state.saved != nil { unsafe tcsetattr(0, TCSANOW, &raw) }
                }
            }
        }
        return body()
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(1, bytes, bytes.count)
    }
}
