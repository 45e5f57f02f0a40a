import Glibc

/// A separate thread for work that waits in the kernel.
final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs the body; the thread ends with it.
    func start() {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context)
        // No thread could be made: the caller waits for it, so its work is done here.
        guard code == 0 else { return unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body() }
        pthread_detach(thread)
    }
}
