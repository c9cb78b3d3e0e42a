// What of WebAssembly the engine is handed. The whole of it is in TypeScript's DOM library, which no thread has.

declare namespace WebAssembly {
  class Module {
    private readonly brand: 'module';
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}

type BufferSource = ArrayBufferView | ArrayBuffer;
