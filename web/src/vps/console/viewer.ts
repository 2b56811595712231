/** What a console tells of itself. */
export interface Told {
  onOpen: () => void;
  /** With the code of the WebSocket's end. */
  onClose: (code: number) => void;
}

/** A machine's screen or serial line, drawn into an element of the page. */
export interface Viewer {
  focus(): void;
  /** As if somebody had typed it. */
  type(text: string): void;
  /** Only a screen has a keyboard that knows it. */
  pressCtrlAltDel?(): void;
  close(): void;
}

export type Open = (place: HTMLElement, url: string, told: Told) => Viewer;

/** The one connection of a ticket. What ends it is told once, and not when we end it ourselves. */
export function connect(url: string, { onOpen, onClose }: Told): { socket: WebSocket; end: () => void } {
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  let isOurs = false;
  socket.addEventListener('open', onOpen);
  socket.addEventListener('close', ({ code }) => {
    if (!isOurs) onClose(code);
  });
  return {
    socket,
    end: () => {
      isOurs = true;
      socket.close();
    },
  };
}
