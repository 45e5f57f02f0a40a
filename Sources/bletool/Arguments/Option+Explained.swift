import ArgumentParser

// Options and arguments by their help, and the word for the value in it.

extension Option {
    init<Wrapped: ExplainedArgument>(
        _ help: String, _ value: String? = nil, name: NameSpecification = .long,
        parsing: SingleValueParsingStrategy = .next
    ) where Value == Wrapped? {
        self.init(
            name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), transform: Wrapped.parse)
    }

    init(
        _ help: String, _ value: String? = nil, name: NameSpecification = .long,
        parsing: SingleValueParsingStrategy = .next
    ) where Value: ExplainedArgument {
        self.init(name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), transform: Value.parse)
    }

    init(
        wrappedValue: Value, _ help: String, _ value: String? = nil, name: NameSpecification = .long,
        parsing: SingleValueParsingStrategy = .next
    ) where Value: ExplainedArgument {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value),
            transform: Value.parse)
    }

    init<Element: ExplainedArgument>(
        wrappedValue: [Element], _ help: String, _ value: String? = nil
    ) where Value == [Element] {
        self.init(
            wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value), transform: Element.parse)
    }

    init(
        _ help: String, _ value: String? = nil, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) where Value == String? {
        self.init(name: name, help: ArgumentHelp(help, valueName: value), completion: completion)
    }

    init(_ help: String, _ value: String? = nil, completion: CompletionKind? = nil) where Value == String {
        self.init(help: ArgumentHelp(help, valueName: value), completion: completion)
    }

    init(wrappedValue: String, _ help: String, _ value: String? = nil) where Value == String {
        self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value))
    }

    init(
        wrappedValue: [String], _ help: String, _ value: String? = nil, completion: CompletionKind? = nil
    ) where Value == [String] {
        self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value), completion: completion)
    }
}

extension Argument {
    init(_ help: String, _ value: String? = nil) where Value: ExplainedArgument {
        self.init(help: ArgumentHelp(help, valueName: value), transform: Value.parse)
    }

    init<Wrapped: ExplainedArgument>(_ help: String, _ value: String? = nil) where Value == Wrapped? {
        self.init(help: ArgumentHelp(help, valueName: value), transform: Wrapped.parse)
    }

    init<Element: ExplainedArgument>(_ help: String, _ value: String? = nil) where Value == [Element] {
        self.init(help: ArgumentHelp(help, valueName: value), transform: Element.parse)
    }

    init<Element: ExplainedArgument>(
        wrappedValue: [Element], _ help: String, _ value: String? = nil
    ) where Value == [Element] {
        self.init(
            wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value), transform: Element.parse)
    }
}
