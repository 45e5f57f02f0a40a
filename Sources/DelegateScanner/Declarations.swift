/// What surrounds and precedes a declaration.
struct DeclarationContext {
    /// The names of the types around the declaration and, if it is a type, its own.
    var path: [String] = []
    /// The conditions of `#if` around it.
    var conditions: [String] = []
    /// Why other files cannot name the declaration.
    var hiding: String?
    /// A global actor other than the main actor.
    var actor: String?
}

/// A type or an extension.
struct DeclaredType {
    enum Kind { case `class`, `extension`, other }

    var kind: Kind
    var context: DeclarationContext
    /// The superclass and protocols, without arguments of generic types.
    var inherited: [String] = []
    /// Whether an extension is only for some arguments of its generic type.
    var isConstrained = false
    /// Whether members of an extension are private unless they say otherwise.
    var isPrivateExtension = false
}

/// A function in a class or an extension that has the name of a delegate method.
struct DeclaredFunction {
    var context: DeclarationContext
    var base: String
    var labels: [String]
    var types: [[Token]]
    /// Whether a `where` clause of the method or of its extension limits it.
    var isConstrained: Bool
    var isOverride: Bool
}

/// A delegate method that a class adds to those of its superclass.
struct AddedMethod {
    let method: KnownMethod
    /// The class's name within the module, as written.
    let className: String
    let conditions: [String]
    /// Why the method cannot be called from another file.
    let hiding: String?
}
