import { Component, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { Checkout } from './checkout';

@Component({
  selector: 'main',
  imports: [Checkout],
  template: `
    <h1>Order 42</h1>
    <app-checkout [order]="order" (paid)="add($event)" />
    <output>{{ paid().join(' ') }}</output>
  `,
})
class App {
  readonly order = { reference: 'order-42', amount: 5000 };
  readonly paid = signal<readonly string[]>([]);

  add(id: string): void {
    this.paid.update((ids) => [...ids, id]);
  }
}

void bootstrapApplication(App);
