import ArgumentParser

/// Numbers of options. The parser itself can only say that a value is invalid; these say why, and what is accepted.
enum NumberArgument {
    /// - Throws: `ValidationError` with the reason.
    static func count(_ text: String) throws -> Int {
        let form = "use a whole number of at least 1"
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ValidationError(text.isEmpty ? "it is empty; \(form)" : form)
        }
        guard let count = Int(text) else {
            throw ValidationError(text.hasPrefix("-") ? "it is too small; \(form)" : "the number is too large")
        }
        guard count >= 1 else { throw ValidationError("it is too small; \(form)") }
        return count
    }

    /// - Throws: `ValidationError` with the reason.
    static func seconds(_ text: String) throws -> Double {
        let form = "use a number of seconds, such as 30 or 0.5"
        guard let number = Double(text), !number.isNaN else {
            throw ValidationError(text.isEmpty ? "it is empty; \(form)" : form)
        }
        guard number >= 0.01 else { throw ValidationError("it is too small; use 0.01 seconds or more") }
        guard number <= 1e9 else { throw ValidationError("the number is too large; leave it out to go on for ever") }
        return number
    }
}
