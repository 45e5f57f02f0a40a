import BLETransport
import Glibc

/// The owner's own step to reset an adapter: a program that gets the adapter's name, `hci0` or another transport such as
/// `uart:/dev/ttyS1@115200`, as its last argument.
/// It runs as the daemon's user, without a shell, and is ended when it takes too long.
final class RecoveryCommand {
    private let loop: EventLoop
    private var process: AppProcess?
    private var deadline: EventLoop.Deadline?
    private var isOverdue = false

    /// How long it may take.
    static let microseconds: UInt64 = 20_000_000

    init(on loop: EventLoop) { self.loop = loop }

    /// - Parameter done: called once on the loop, later; gets what went wrong, as text.
    func run(_ command: [String], adapter: String, done: @escaping (String?) -> Void) {
        let name = command.first ?? ""
        let failed = { [loop] (text: String) in loop.runLater { done(text) } }
        do throws(AppProcess.LaunchFailure) {
            let process = try AppProcess.start(command + [adapter])
            self.process = process
            do throws(TransportError) {
                try process.watch(on: loop) { [weak self] ending in
                    guard let self else { return }
                    let isOverdue = isOverdue
                    end()
                    done(isOverdue ? "‘\(name)’ took longer than 20 s and was ended" : Self.problem(ending, name))
                }
            } catch {
                process.kill()
                self.process = nil
                return failed("‘\(name)’ cannot be watched: \(error)")
            }
            let deadline = loop.makeDeadline { [weak self] in
                self?.isOverdue = true
                self?.process?.kill()
            }
            deadline.set(atMicroseconds: loop.nowMicroseconds + Self.microseconds)
            self.deadline = deadline
        } catch {
            failed("‘\(name)’ could not be started: \(unsafe String(cString: strerror(error.code)))")
        }
    }

    /// Ends the program, if it runs; `done` is not called any more.
    func cancel() {
        process?.unwatch()
        process?.kill()
        end()
    }

    private func end() {
        deadline?.cancel()
        (process, deadline, isOverdue) = (nil, nil, false)
    }

    private static func problem(_ ending: ProcessEnding, _ name: String) -> String? {
        switch ending {
        case .exited(0): nil
        case .exited(let status): "‘\(name)’ failed with status \(status)"
        case .signalled(let signal): "‘\(name)’ was ended by signal \(signal)"
        case .unknown: "what became of ‘\(name)’ is not known"
        case .notStarted(_, let text): "‘\(name)’ could not be started: \(text)"
        }
    }
}
