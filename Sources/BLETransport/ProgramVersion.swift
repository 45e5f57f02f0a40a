/// The version that programs of this package print.
package let programVersion = "0.3.0"
