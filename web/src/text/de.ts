/** All words of a language but those of the provider's pages, in one file: each that a browser asks for takes its time. */
export { default as texts } from './de.json';
export { default as refusal } from './refusals/de.json';
